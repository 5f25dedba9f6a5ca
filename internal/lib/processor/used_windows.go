package processor

import (
	"syscall"
	"time"
)

// Used returns the time that processors spent on this program so far, its own and the
// system's on its behalf. It returns an error if the system does not report it. It is
// safe for concurrent use.
func Used() (time.Duration, error) {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0, err
	}
	var begun, ended, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &begun, &ended, &kernel, &user); err != nil {
		return 0, err
	}
	return span(kernel) + span(user), nil
}

// span converts a length of time, which Windows counts in steps of 100 ns.
func span(f syscall.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}
