//go:build !unix && !windows

package processor

import (
	"errors"
	"time"
)

// Used returns an error: the processor time can be read on Unix and Windows only.
func Used() (time.Duration, error) {
	return 0, errors.New("the time of processors is read on Unix and Windows only")
}
