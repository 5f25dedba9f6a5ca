package kit

import "golang.org/x/sys/unix"

// monotonic returns a reading of CLOCK_MONOTONIC in ns.
func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return t.Nano()
}
