package processor

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"time"
)

// tick is the unit of /proc/stat: Linux says USER_HZ is 100 wherever Go runs.
const tick = 10 * time.Millisecond

// Idle returns how long the machine's processors had nothing to do so far, summed up
// over all of them, in steps of 10 ms. The error says that the system does not say. It
// is safe for concurrent use.
func Idle() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	return idle(text)
}

// idle reads the first line of /proc/stat (proc_stat(5)): "cpu", then user, nice, system,
// idle and waiting for input or output.
func idle(stat []byte) (sum time.Duration, err error) {
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) < 6 || string(fields[0]) != "cpu" {
		return 0, errors.New("/proc/stat does not begin with the sum of all processors")
	}
	for _, f := range fields[4:6] {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n) * tick
	}
	return sum, nil
}
