//go:build !linux

package subprocess

// Sleeps returns false: it is not known.
func (p *Process) Sleeps() bool { return false }
