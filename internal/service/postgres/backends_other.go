//go:build !linux

package postgres

import "syscall"

// signalBackends does nothing: backends end by themselves when their server has ended.
func signalBackends(int, syscall.Signal) error { return nil }

// suspends reports whether the backends of a server can be found.
const suspends = false
