// Resident memory of this process, from /proc.

import { readFileSync, writeFileSync } from "node:fs";

/** A line of /proc/self/status, in bytes; 0 where there is none. */
export function memory(key) {
  try {
    const line = readFileSync("/proc/self/status", "utf8").match(new RegExp(`^${key}:\\s*(\\d+)`, "m"));
    return Number(line[1]) * 1024;
  } catch {
    return 0;
  }
}

/** Sets the high-water mark to what is resident now, where the kernel lets us. */
memory.reset = () => {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // Then it is the process's maximum.
  }
};
