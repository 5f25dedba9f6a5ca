// Package faketime sets the clocks of programs by the library libfaketime, which answers their readings
// of the clock by a file.
package faketime

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// ErrNone means that this machine does not have the library.
var ErrNone = errors.New("no libfaketime found, by which clocks of programs are set; hint: on Linux install the package libfaketime")

// libraries are the paths of libfaketime in order of preference, the ones for programs with several
// threads first.
var libraries = []string{
	"/usr/lib/*/faketime/libfaketimeMT.so.1",
	"/usr/lib*/faketime/libfaketimeMT.so.1",
	"/usr/local/lib/faketime/libfaketimeMT.so.1",
	"/usr/lib/*/faketime/libfaketime.so.1",
	"/usr/lib*/faketime/libfaketime.so.1",
	"/usr/local/lib/faketime/libfaketime.so.1",
}

// Find returns the path of the library, or [ErrNone].
func Find() (library string, err error) {
	if runtime.GOOS != "linux" {
		return "", ErrNone
	}
	for _, pattern := range libraries {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[0], nil
		}
	}
	return "", ErrNone
}

// Environment returns the variables of a program whose clock the file sets. libc comes after the library
// because of its malloc: jemalloc reads the clock, which the library cannot yet tell when it allocates
// memory itself (github.com/wolfcw/libfaketime/issues/130).
func Environment(library, file string) []string {
	return []string{
		"LD_PRELOAD=" + library + ":libc.so.6",
		"FAKETIME_TIMESTAMP_FILE=" + file,
		"FAKETIME_NO_CACHE=1", // a new time holds from the next reading on
		"FAKETIME_FMT=%s",
	}
}

// RealMonotonic returns further variables of a program whose monotonic clock stays that of the machine.
func RealMonotonic() []string {
	return []string{"FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1"}
}

// Ahead is the content of the file for a clock that runs ahead of the machine's, or behind it.
func Ahead(d time.Duration) []byte { return fmt.Appendf(nil, "%+.6f\n", d.Seconds()) }

// Standing is the content of the file for a clock that stands at a time. Contents of times with as many
// digits have the same length.
func Standing(at time.Time) []byte { return fmt.Appendf(nil, "%d.%09d\n", at.Unix(), at.Nanosecond()) }

// Clean removes the shared memory of a program that was killed.
func Clean(pid int) {
	for _, name := range []string{"faketime_shm_%d", "sem.faketime_sem_%d"} {
		_ = os.Remove(filepath.Join("/dev/shm", fmt.Sprintf(name, pid))) // a program that ended well removed it
	}
}
