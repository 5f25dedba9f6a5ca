//go:build !linux

package clockwatch

import (
	"fmt"
	"runtime"
)

// Check returns an error if this system does not have the clocks.
func Check() error {
	return fmt.Errorf("%s does not have the clocks that are compared between machines; hint: Linux", runtime.GOOS)
}

// Raw returns the reading of CLOCK_MONOTONIC_RAW, in ns. [Check] has returned nil.
func Raw() int64 { return 0 }

// boot returns the reading of CLOCK_BOOTTIME, in ns.
func boot() int64 { return 0 }
