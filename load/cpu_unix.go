//go:build unix

package load

import (
	"syscall"
	"time"
)

// cpuTime returns the time that processors spent on this program.
func cpuTime() (time.Duration, error) {
	var used syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), err
}
