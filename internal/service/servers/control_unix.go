//go:build unix

package servers

import "syscall"

func suspend(c *child) error { return c.process.Signal(syscall.SIGSTOP) }

func resume(c *child) error { return c.process.Signal(syscall.SIGCONT) }
