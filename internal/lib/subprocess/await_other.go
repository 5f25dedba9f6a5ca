//go:build !linux

package subprocess

import "os/exec"

// wait returns the result of the program when it has ended.
func (p *Process) wait(cmd *exec.Cmd) error {
	err := cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	return err
}

// awaitStop returns at once: a child stops some time after the signal.
func awaitStop(int) error { return nil }
