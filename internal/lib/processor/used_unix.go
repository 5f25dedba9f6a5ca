//go:build unix

package processor

import (
	"syscall"
	"time"
)

// Used returns the time that processors spent on this program so far, its own and the
// system's on its behalf. It returns an error if the system does not report it. It is
// safe for concurrent use.
func Used() (time.Duration, error) {
	var used syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), err
}
