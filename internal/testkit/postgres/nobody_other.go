//go:build !unix

package postgres

import "os/exec"

// unprivileged leaves command as it is.
func unprivileged(*exec.Cmd, string) error { return nil }
