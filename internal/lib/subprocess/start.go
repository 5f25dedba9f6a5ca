package subprocess

import (
	"os/exec"
	"runtime"
)

// Start starts a program that dies with this process, if the system supports that, and is the first
// of its group of processes. It calls gone with the result when the program has ended. A goroutine of
// its own starts it and stays locked to its thread until then, because Linux counts the parent as
// dead as soon as the forking thread is.
func Start(cmd *exec.Cmd, gone func(error)) error {
	cmd.SysProcAttr = attributes()
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			gone(cmd.Wait())
		}
	}()
	return <-started
}
