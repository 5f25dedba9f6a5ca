//go:build !unix

package load

import (
	"errors"
	"time"
)

func cpuTime() (time.Duration, error) {
	return 0, errors.New("the time of cores is read on Unix only")
}
