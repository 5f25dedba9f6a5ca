package clockwatch

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Check returns an error if this system does not have the clocks.
func Check() error {
	var t unix.Timespec
	return errors.Join(unix.ClockGettime(unix.CLOCK_MONOTONIC_RAW, &t), unix.ClockGettime(unix.CLOCK_BOOTTIME, &t))
}

// Raw returns the reading of CLOCK_MONOTONIC_RAW, in ns. [Check] has returned nil.
func Raw() int64 { return read(unix.CLOCK_MONOTONIC_RAW) }

// boot returns the reading of CLOCK_BOOTTIME, in ns.
func boot() int64 { return read(unix.CLOCK_BOOTTIME) }

func read(clock int32) int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(clock, &t) // it fails only for clocks that the kernel does not have
	return t.Nano()
}
