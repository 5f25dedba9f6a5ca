package adapter

import "golang.org/x/sys/unix"

// monotonic returns a reading of CLOCK_MONOTONIC, in ns.
func monotonic() (int64, error) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano(), err
}
