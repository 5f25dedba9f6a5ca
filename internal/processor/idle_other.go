//go:build !linux

package processor

import (
	"errors"
	"time"
)

// Idle returns an error: how idle the machine is is read on Linux only.
func Idle() (time.Duration, error) {
	return 0, errors.New("how idle the machine is is read on Linux only")
}
