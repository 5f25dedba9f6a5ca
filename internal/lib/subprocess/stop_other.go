//go:build unix && !linux

package subprocess

// awaitStop returns at once: a child stops some time after the signal.
func awaitStop(int) error { return nil }
