package main

import (
	"os"
	"strconv"
	"strings"
)

// status returns a line of /proc/self/status such as "VmRSS:", in bytes; 0 if missing.
func status(key string) int64 {
	text, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, key) {
			kib, _ := strconv.ParseInt(strings.Fields(line)[1], 10, 64)
			return kib * 1024
		}
	}
	return 0
}

// resetPeak resets the peak to the current value, if the kernel allows it.
func resetPeak() {
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}
