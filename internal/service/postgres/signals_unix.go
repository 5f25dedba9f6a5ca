//go:build unix

package postgres

import "syscall"

// The signals of a suspension.
const stop, goOn = syscall.SIGSTOP, syscall.SIGCONT
