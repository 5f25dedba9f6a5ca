package daemon

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/lockbench/lockbench/internal/lib/subprocess"
	"github.com/lockbench/lockbench/internal/lib/tempdir"
)

const (
	startTimeout = time.Minute      // until a server answers, even on a busy machine
	endTimeout   = 10 * time.Second // until one that was asked to end is killed
	pollInterval = 20 * time.Millisecond
	portTries    = 3 // another program may listen at a free port first
)

// ErrForeign is wrapped by errors of [Program.Answers] when another server answered.
var ErrForeign = errors.New("another server answered")

// A Program describes the program of a server.
type Program struct {
	Name string // in messages, such as "postgresql"
	Home *tempdir.Dir
	// Listen chooses a free address. It is called before the first start, and again if that fails.
	Listen func() error
	// Command returns the command of the next start. Its output goes to a log in Home.
	Command func() (*exec.Cmd, error)
	// Answers returns nil if the server answers and is the one that was started.
	Answers func(ctx context.Context) error
	// Quit is the signal that asks the server to end; nil if a kill is good enough.
	Quit os.Signal
	// Children sends a signal to the processes of a server that are not in its group, if it has such.
	// The server stands still meanwhile.
	Children func(server int, s syscall.Signal) error
}

// A Daemon is a program that was started. A restart replaces its process. Its methods are safe for
// concurrent use, but Restart and Close are called one at a time. A service of the user's has a nil
// Daemon, which never ends and closes nothing.
type Daemon struct {
	program Program
	died    chan struct{}

	mu      sync.Mutex
	process *subprocess.Process // nil before the first start
	gone    chan struct{}       // closed when the process has ended
	serves  bool                // it has answered
	ending  bool                // it was asked to end
	stopped bool                // it is suspended
	err     error               // reason of its end by itself; set before died is closed
}

// Start starts a program and returns when it answers, within a minute. On Linux it ends with this
// process however that ends. If Start fails, the folder of the program is removed.
func Start(ctx context.Context, p Program) (*Daemon, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	d := &Daemon{program: p, died: make(chan struct{})}
	err := d.open(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("private %s: %w", p.Name, err), p.Home.Remove())
	}
	return d, nil
}

// open starts the first process.
func (d *Daemon) open(ctx context.Context) (err error) {
	for range portTries {
		if err = d.program.Listen(); err != nil {
			return err
		}
		if err = d.begin(ctx); err == nil {
			return nil
		}
		if err = errors.Join(err, d.Kill()); ctx.Err() != nil {
			break
		}
	}
	return err
}

// begin starts a process and waits until it answers.
func (d *Daemon) begin(ctx context.Context) error {
	log, err := os.Create(d.log())
	if err != nil {
		return err
	}
	defer log.Close()
	command, err := d.program.Command()
	if err != nil {
		return err
	}
	command.Stdout, command.Stderr = log, log
	gone := make(chan struct{})
	d.mu.Lock()
	process, err := subprocess.Start(command, func(err error) { d.ended(gone, err) })
	if err == nil {
		d.process, d.gone, d.serves, d.ending, d.stopped = process, gone, false, false, false
	}
	d.mu.Unlock()
	if err != nil {
		return err
	}
	return d.answers(ctx, gone)
}

func (d *Daemon) log() string { return d.program.Home.File("log") }

// ended records that a process has ended.
func (d *Daemon) ended(gone chan struct{}, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.serves && !d.ending && d.err == nil {
		d.err = fmt.Errorf("private %s ended by itself: %w%s", d.program.Name, cmp.Or(err, errStatus), d.lastWords())
		close(d.died)
	}
	close(gone)
}

var errStatus = errors.New("exit status 0")

// lastWords returns the end of the log as a suffix for an error.
func (d *Daemon) lastWords() string {
	const enough = 400
	text, _ := os.ReadFile(d.log()) // nothing was said
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return ""
	}
	return fmt.Sprintf("; it said: %s", bytes.ReplaceAll(text[max(0, len(text)-enough):], []byte("\n"), []byte(" | ")))
}

// answers waits until the process that closes gone at its end answers.
func (d *Daemon) answers(ctx context.Context, gone <-chan struct{}) error {
	for {
		err := d.program.Answers(ctx)
		if errors.Is(err, ErrForeign) {
			return err
		}
		if err == nil {
			d.mu.Lock()
			d.serves = true
			d.mu.Unlock()
			return nil
		}
		select {
		case <-time.After(pollInterval):
		case <-gone:
			return fmt.Errorf("it ended%s", d.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w: %w%s", ctx.Err(), err, d.lastWords())
		}
	}
}

// Await calls try until it returns nil, for at most a minute. Then it returns the last error of try.
func Await(ctx context.Context, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// Done returns a channel that is closed when the program has ended by itself.
func (d *Daemon) Done() <-chan struct{} {
	if d == nil {
		return nil
	}
	return d.died
}

// Err returns the reason once Done is closed, and nil before.
func (d *Daemon) Err() error {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// PID returns the number of the process.
func (d *Daemon) PID() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.process.PID()
}

// Kill ends the process and its children at once, until Restart.
func (d *Daemon) Kill() error {
	d.mu.Lock()
	d.ending = true
	process, gone := d.process, d.gone
	d.mu.Unlock()
	if process == nil {
		return nil
	}
	var err error
	if d.program.Children != nil {
		if err = process.Suspend(); err == nil {
			err = d.program.Children(process.PID(), syscall.SIGKILL)
		}
	}
	err = errors.Join(unlessDone(err), unlessDone(process.Kill()))
	if err == nil {
		<-gone
	}
	return err
}

// unlessDone returns err unless it says that the process has ended.
func unlessDone(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Restart kills the process, calls between, and starts the program again at the same address. It
// returns when that answers, within a minute.
func (d *Daemon) Restart(ctx context.Context, between func()) error {
	if err := d.Kill(); err != nil {
		return fmt.Errorf("kill private %s: %w", d.program.Name, err)
	}
	between()
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err := d.begin(ctx)
	for err != nil && ctx.Err() == nil { // a child of the one before, which was killed, may not have ended yet
		time.Sleep(pollInterval)
		if err = d.Kill(); err == nil {
			err = d.begin(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("start private %s again: %w", d.program.Name, err)
	}
	return nil
}

// Suspend stops the process and its children until Resume.
func (d *Daemon) Suspend() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	err := d.process.Suspend()
	if err == nil && d.program.Children != nil {
		err = d.program.Children(d.process.PID(), stop)
	}
	return err
}

// Resume lets a suspended process go on.
func (d *Daemon) Resume() (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = false
	if d.program.Children != nil {
		err = d.program.Children(d.process.PID(), goOn)
	}
	return errors.Join(err, d.process.Resume())
}

// Close ends the process and removes the folder of the program.
func (d *Daemon) Close() error {
	if d == nil {
		return nil
	}
	return errors.Join(d.Stop(), d.program.Home.Remove())
}

// Stop asks the process to end, and kills it if it does not, until Restart.
func (d *Daemon) Stop() error {
	d.mu.Lock()
	d.ending = true
	process, gone, stopped := d.process, d.gone, d.stopped
	d.mu.Unlock()
	if d.program.Quit != nil && !stopped && process.Signal(d.program.Quit) == nil {
		select {
		case <-gone:
		case <-time.After(endTimeout):
		}
	}
	return d.Kill()
}
