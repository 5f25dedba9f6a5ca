package servers

import (
	"os"
	"syscall"
)

// childAttributes keep a console's Ctrl-C from the child: keys are to be removed
// first. Nothing here ends it when this process is terminated; the next
// StartPrivate does.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// kill ends p at once.
func kill(p *os.Process) error { return p.Kill() }
