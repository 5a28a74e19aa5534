// Resident memory of this process, from /proc.

#pragma once

#include <sys/resource.h>

#include <cstdio>
#include <cstring>

namespace memory {

// Returns a line of /proc/self/status such as "VmRSS:", in bytes; 0 if missing.
inline long status(const char *key) {
    std::FILE *file = std::fopen("/proc/self/status", "r");
    if (!file) return 0;
    char line[256];
    long kib = 0;
    while (std::fgets(line, sizeof line, file))
        if (!std::strncmp(line, key, std::strlen(key))) {
            std::sscanf(line + std::strlen(key), "%ld", &kib);
            break;
        }
    std::fclose(file);
    return kib * 1024;
}

inline long resident() { return status("VmRSS:"); }

// Resets the peak to the current value, if the kernel allows it.
inline void reset_peak() {
    if (std::FILE *file = std::fopen("/proc/self/clear_refs", "w")) {
        std::fputs("5", file);
        std::fclose(file);
    }
}

inline long peak() {
    if (long bytes = status("VmHWM:")) return bytes;
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024L;
}

}  // namespace memory
