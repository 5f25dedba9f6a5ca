//go:build !linux

package postgres

import "syscall"

// signalBackends is nil: backends end by themselves when their server has ended.
var signalBackends func(server int, s syscall.Signal) error

// suspends reports whether the backends of a server can be found.
const suspends = false
