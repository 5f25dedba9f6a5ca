//go:build unix

package daemon

import "syscall"

// The signals of a suspension.
const stop, goOn = syscall.SIGSTOP, syscall.SIGCONT
