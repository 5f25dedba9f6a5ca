//go:build !linux

package servertest

import "syscall"

func childAttributes() *syscall.SysProcAttr { return nil }
