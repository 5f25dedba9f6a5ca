//go:build !linux

package adapter

import (
	"errors"
	"runtime"
)

// monotonic returns an error: it is not known that all processes of the system read one clock.
func monotonic() (int64, error) {
	return 0, errors.New("on " + runtime.GOOS + " processes are not known to share a clock; hint: --stamps driver, or Linux")
}
