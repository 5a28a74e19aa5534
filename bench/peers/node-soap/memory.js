// Resident memory of this process, from /proc.

import { readFileSync, writeFileSync } from "node:fs";

/** Returns a line of /proc/self/status, in bytes; 0 if missing. */
export function memory(key) {
  try {
    const line = readFileSync("/proc/self/status", "utf8").match(new RegExp(`^${key}:\\s*(\\d+)`, "m"));
    return Number(line[1]) * 1024;
  } catch {
    return 0;
  }
}

/** Resets the peak to the current value, if the kernel allows it. */
memory.reset = () => {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // Then it is the peak of the process.
  }
};
