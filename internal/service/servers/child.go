package servers

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"

	"github.com/lockbench/lockbench/internal/lib/faketime"
	"github.com/lockbench/lockbench/internal/lib/subprocess"
)

// A child is a running server process.
type child struct {
	process *subprocess.Process
	log     string        // the file its output goes to
	ending  atomic.Bool   // we asked it to end
	exited  chan struct{} // closed when it is gone and reaped
	died    chan struct{} // closed when it has ended without being asked
	err     error         // the reason of its end; set before either channel is closed
}

// A launch holds the parameters for starting a child.
type launch struct {
	program string
	args    []string
	home    *home
	env     []string      // added to the environment of this process
	died    chan struct{} // closed when a child has ended without being asked
}

// start starts a child.
func (l launch) start() (*child, error) {
	log, err := os.Create(l.home.File("log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(l.program, l.args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = l.home.Path, log, log
	if len(l.env) > 0 {
		cmd.Env = append(os.Environ(), l.env...)
	}

	c := &child{log: log.Name(), exited: make(chan struct{}), died: l.died}
	c.process, err = subprocess.Start(cmd, func(err error) { c.reap(cmd.Process.Pid, err) })
	return c, err
}

// reap records that the child has ended, and its error.
func (c *child) reap(pid int, err error) {
	faketime.Clean(pid)
	if err == nil {
		err = errors.New("exit status 0")
	}
	c.err = fmt.Errorf("server process %d ended by itself: %w%s", pid, err, c.lastWords())
	if !c.ending.Load() {
		close(c.died)
	}
	close(c.exited)
}

// end kills the child and waits until it has ended. The child has nothing to save, and a kill also
// ends one that is stopped or does not answer.
func (c *child) end() error {
	c.ending.Store(true)
	err := c.process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	if err == nil {
		<-c.exited
	}
	return err
}

// lastWords returns the end of the child's output as a suffix for an error.
func (c *child) lastWords() string {
	const enough = 400
	text, err := os.ReadFile(c.log)
	text = bytes.TrimSpace(text)
	if err != nil || len(text) == 0 {
		return ""
	}
	if len(text) > enough {
		text = append([]byte("..."), text[len(text)-enough:]...)
	}
	return fmt.Sprintf("; it said: %s", bytes.ReplaceAll(text, []byte("\n"), []byte(" | ")))
}
