package servers

import (
	"os"
	"syscall"
)

// childAttributes keep a console's Ctrl-C from the child, because the run's keys
// must be removed first. If this process is terminated, the child ends only at
// the next StartPrivate.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// kill ends p at once.
func kill(p *os.Process) error { return p.Kill() }
