package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// tryInterval is the pause between two tries of an acquire that waits.
const tryInterval = 5 * time.Millisecond

// A grip is a locked file; the zero grip is not locked.
type grip struct {
	// giveUp releases the file. Its error wraps fs.ErrNotExist if the file was gone already.
	giveUp func() error
	// ends reports whether the end of the process releases the file as well.
	ends bool
}

// A try tries once to lock the file at path, which another owner may hold.
type try func(path string) (grip, error)

// byPresence checks for the file, and then creates it.
func byPresence(path string) (grip, error) {
	switch _, err := os.Stat(path); {
	case err == nil:
		return grip{}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return grip{}, err
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return grip{}, err
	}
	return grip{giveUp: func() error { return os.Remove(path) }}, nil
}

// inOneStep creates the file if there is none.
func inOneStep(path string) (grip, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return grip{}, nil
	}
	if err != nil {
		return grip{}, err
	}
	return grip{giveUp: func() error { return os.Remove(path) }}, f.Close()
}

// byKernel locks the file, which is not removed.
func byKernel(path string) (grip, error) {
	lock := flock.New(path)
	switch taken, err := lock.TryLock(); {
	case err != nil:
		return grip{}, errors.Join(err, lock.Close())
	case !taken:
		return grip{}, lock.Close()
	}
	return grip{giveUp: lock.Close, ends: true}, nil
}

// opener returns the Open of a design that locks by t.
func opener(t try) func(design.Environment) (design.Process, error) {
	return func(env design.Environment) (design.Process, error) {
		if len(env.Services) == 0 {
			return nil, errors.New("environment has no directory; hint: give it the path of one")
		}
		if _, ok := env.Services[0].(string); !ok {
			return nil, fmt.Errorf("service of the environment is a %T, no directory; hint: give it the path of one", env.Services[0])
		}
		return &process{env: env, try: t, held: map[*lease]struct{}{}}, nil
	}
}

// A process releases its kernel locks when it is closed, like the end of a real process.
// Files that it created stay.
type process struct {
	env design.Environment
	try try

	mu     sync.Mutex
	held   map[*lease]struct{} // leases that end with the process
	closed bool
}

// Locker implements [design.Process].
func (p *process) Locker(o design.Observer) lockbench.Locker { return &locker{p, o} }

// Close implements [design.Process].
func (p *process) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for l := range p.held {
		errs = append(errs, l.giveUp())
	}
	p.held, p.closed = nil, true
	return errors.Join(errs...)
}

// keep registers l to be released at the end of the process, if its lock ends with the
// process.
func (p *process) keep(l *lease) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !l.ends:
	case p.closed:
		return errors.Join(errClosed, l.giveUp())
	default:
		p.held[l] = struct{}{}
	}
	return nil
}

// drop unregisters l. It reports whether the process is open, or l does not end with the
// process.
func (p *process) drop(l *lease) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.held, l)
	return !l.ends || !p.closed
}

var errClosed = errors.New("the process was closed")

type locker struct {
	process *process
	seen    design.Observer
}

// Acquire implements [lockbench.Locker].
func (l *locker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	held := &lease{process: l.process}
	err := design.Poll(ctx, opt.Wait, design.Every(tryInterval), func() (bool, error) {
		held.From = l.seen.Attempt(key)
		err := l.process.env.Pass(ctx, func(context.Context) (err error) {
			held.grip, err = l.process.try(pathOf(l.process.env, key))
			return err
		})
		if err != nil && held.giveUp != nil { // the call was given up, so no owner would release the file
			return false, errors.Join(err, held.giveUp())
		}
		return held.giveUp != nil, err
	})
	if err == nil {
		err = l.process.keep(held)
	}
	if err != nil {
		return nil, err
	}
	return held, nil
}

// A lease is one grant. Granted of its embedded Validity is zero, since it has no end.
type lease struct {
	design.Validity
	grip
	process *process
}

// Release implements [lockbench.Lease].
func (l *lease) Release(ctx context.Context) error {
	err := l.process.env.Pass(ctx, func(context.Context) error {
		if !l.process.drop(l) {
			return errClosed
		}
		return l.giveUp()
	})
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", lockbench.ErrNotHeld, err)
	}
	return err
}
