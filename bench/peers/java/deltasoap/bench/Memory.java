package deltasoap.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Resident memory of this process, from /proc. */
final class Memory {
    private Memory() {}

    static long resident() {
        return status("VmRSS:");
    }

    static long peak() {
        return status("VmHWM:");
    }

    /** Resets the peak to the current value, if the kernel allows it. */
    static void resetPeak() {
        try {
            Files.writeString(Path.of("/proc/self/clear_refs"), "5");
        } catch (IOException ignored) {
            // Then the peak since the start counts.
        }
    }

    private static long status(String key) {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith(key)) {
                    return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
                }
            }
        } catch (IOException ignored) {
            // Not supported by this system.
        }
        return 0;
    }
}
