//go:build !unix

package daemon

import (
	"os"
	"os/exec"
)

// Unprivileged leaves command as it is.
func Unprivileged(*exec.Cmd) error { return nil }

// Give leaves path to this user.
func Give(string) error { return nil }

// Base returns the folder for [NewHome] of a server that refuses root.
func Base() string { return os.TempDir() }
