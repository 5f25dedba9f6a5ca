//go:build !unix

package daemon

import "syscall"

// The signals of a suspension, of which there are none.
const stop, goOn = syscall.Signal(0), syscall.Signal(0)
