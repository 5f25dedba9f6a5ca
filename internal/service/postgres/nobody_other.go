//go:build !unix

package postgres

import (
	"os"
	"os/exec"
)

// unprivileged leaves command as it is.
func unprivileged(*exec.Cmd) error { return nil }

// give leaves path to this user.
func give(string) error { return nil }

// base returns the folder for those of private servers.
func base() string { return os.TempDir() }
