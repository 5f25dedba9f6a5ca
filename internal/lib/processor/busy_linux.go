package processor

import (
	"os"
	"strconv"
	"strings"
)

// Busy begins to measure how much of the machine's processor time is used, by all programs. The function
// that it returns tells the share since then, 0 to 1, and a negative number if the system does not report it.
func Busy() (share func() float64) {
	used, all, known := times()
	return func() float64 {
		nowUsed, nowAll, still := times()
		if !known || !still || nowAll <= all {
			return -1
		}
		return float64(nowUsed-used) / float64(nowAll-all)
	}
}

// times returns the used and all ticks of the processors since the machine started.
func times() (used, all int64, known bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, false
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	const idle, wait, counted = 4, 5, 9 // the ticks of guests are counted as those of users, too
	if len(fields) < counted || fields[0] != "cpu" {
		return 0, 0, false
	}
	for i, field := range fields[1:counted] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, 0, false
		}
		all += ticks
		if at := i + 1; at != idle && at != wait {
			used += ticks
		}
	}
	return used, all, true
}
