package locktest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/drive/standstill"
	"github.com/lockbench/lockbench/locktest/internal/guard"
)

// Try tests a lock in real time, as [Run] does, and returns its findings. It fails no test and may
// be used without one.
//
// Try may be called in a bubble of testing/synctest, in which it takes no real time to wait.
//
// Try calls newLocker from its own goroutine, for some eighty owners. The error is about the set-up:
// newLocker, an option or the environment failed, or the lock cannot be acquired while nobody holds
// it. Later faults of the lock are in the Result. When ctx ends, Try returns its error.
//
// Try returns even if the lock does not: it leaves calls that do not return behind with their
// goroutines, and nothing else.
func Try(ctx context.Context, newLocker func() (lockbench.Locker, error), options ...RunOption) (Result, error) {
	s, err := newRunSettings(options)
	if err != nil {
		return Result{}, err
	}
	r := &trial{settings: s, newLocker: newLocker, keys: fmt.Sprintf("%slocktest-%x", s.prefix, rand.Uint64())}
	if clockStands() {
		r.think = time.Microsecond
	}
	defer r.close()
	if err := r.meet(ctx); err != nil {
		return Result{}, err
	}
	if err := r.open(); err != nil {
		return Result{}, err
	}
	r.run(ctx)
	if ctx.Err() != nil {
		return Result{}, fmt.Errorf("interrupted: %w", context.Cause(ctx))
	}
	return r.found(), errors.Join(r.broken()...)
}

// clockStands reports whether time passes only while all goroutines wait, as in a bubble of
// testing/synctest.
func clockStands() bool {
	began := time.Now()
	for range 1000 {
		if !time.Now().Equal(began) {
			return false
		}
	}
	return true
}

// trial is one Try under way.
type trial struct {
	settings  runSettings
	newLocker func() (lockbench.Locker, error)
	abilities abilities
	starved   string // why it is unknown whether the lock renews; empty if that is known
	hung      bool   // a call that did not return is the reason
	// looksStood is how long the machine or the server stood still in the looks at the lock.
	looksStood time.Duration
	claims     lockbench.Claims
	keys       string // the prefix of all keys
	// think is the pause before each call, zero where the clock advances by itself: without it the
	// calls of one owner would get the same stamp, and count as concurrent.
	think  time.Duration
	dir    string // of the histories
	own    bool   // the trial removes dir
	guards []*guard.Guard
	runs   []*caseRun
}

// locker makes one more owner's lock.
func (r *trial) locker(wrong func(error)) (*guard.Guard, error) {
	inner, err := r.newLocker()
	if err == nil && inner == nil {
		err = errors.New("newLocker returned neither a Locker nor an error")
	}
	if err != nil {
		return nil, err
	}
	g := guard.New(inner, r.settings.patience, wrong)
	r.guards = append(r.guards, g)
	return g, nil
}

// close closes all locks at once, since each may take its time.
func (r *trial) close() {
	var all sync.WaitGroup
	for _, g := range r.guards {
		all.Go(g.Close)
	}
	all.Wait()
	if r.own {
		_ = os.Remove(r.dir) // fails if files are left, which the user may need
	}
}

// meet finds out the abilities of the lock.
func (r *trial) meet(ctx context.Context) error {
	var stuck notes
	first, err := r.locker(stuck.fail)
	if err != nil {
		return err
	}
	second, err := r.locker(stuck.fail)
	if err != nil {
		return err
	}
	for n := range mostLooks {
		watcher := standstill.Start(standstill.Config{Bound: r.settings.lookBound(), Clock: r.settings.clock, Ask: r.settings.servers})
		began := time.Now()
		err = r.lookAt(ctx, first, second, fmt.Sprintf("%s/look-%d", r.keys, n))
		stood := watcher.Stop()
		r.looksStood += stood.For
		starved := stood.Times > 0 && !errors.Is(err, errMisdeclared)
		late := errors.Is(err, errUnreached) && timedOut(err) && time.Since(began) < r.settings.patience
		again := starved || late || n+1 < tries && errors.Is(err, errUnreached)
		switch {
		case err != nil && starved:
			err = &starvedError{n + 1, stood.For, err}
		case late:
			err = fmt.Errorf("%w, a call ran out of time in each of %d looks at the lock: %w", ErrUntested, n+1, err)
		}
		if err == nil || !again || first.Spent() || ctx.Err() != nil {
			break
		}
	}
	return err
}

// timedOut reports whether err says that the lock, its client or the network gave up waiting. They
// may give up after a time too short to count as a standstill: redsync waits for a twentieth of a
// lease.
func timedOut(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// A starvedError says why the lock's abilities are unknown: each look failed, and the machine or
// the server stood still during the last one.
type starvedError struct {
	looks int
	stood time.Duration
	err   error
}

func (e *starvedError) Error() string {
	return fmt.Sprintf("untested, the machine or the server stood still for %v in look %d of %d at the lock, which failed: %v", e.stood.Round(time.Millisecond), e.looks, mostLooks, e.err)
}

// Unwrap returns ErrUntested and the error of the look.
func (e *starvedError) Unwrap() []error { return []error{ErrUntested, e.err} }

// lookAt finds out the abilities of the lock, by one key.
func (r *trial) lookAt(ctx context.Context, first, second lockbench.Locker, key string) error {
	a, err := look(ctx, first, second, key)
	if err != nil {
		return fmt.Errorf("%w; hint: is the service there, and does Acquire return at once when Options.Wait is zero?", err)
	}
	if r.claims, err = r.settings.claimed(a); err != nil {
		return err
	}
	r.abilities = read(a, r.claims)
	return r.lookWhetherItRenews(ctx, first, second, key)
}

// A place is the place of an owner among the guards of a case.
type place struct {
	run *caseRun
	at  int
}

// open makes the owners of every case that suits the lock's abilities. Those of numbered cases get
// their numbers, and the others the numbers between; a number that is left over is made and unused.
func (r *trial) open() error {
	if err := r.folder(); err != nil {
		return err
	}
	var anywhere []place
	numbered := map[int]place{}
	for _, p := range r.settings.cases {
		if r.skipReason(p) != "" {
			continue
		}
		sh := &caseRun{trial: r, test: p, guards: make([]*guard.Guard, p.owners*r.sides(p))}
		for i := range sh.guards {
			if p.numbered {
				numbered[number(i/p.owners, i%p.owners)] = place{sh, i}
			} else {
				anywhere = append(anywhere, place{sh, i})
			}
		}
		r.runs = append(r.runs, sh)
	}
	for len(numbered)+len(anywhere) > 0 {
		n := len(r.guards) + 1
		of, found := numbered[n]
		switch {
		case found:
			delete(numbered, n)
		case len(anywhere) > 0:
			of, anywhere = anywhere[0], anywhere[1:]
		default:
			of = place{&caseRun{guards: make([]*guard.Guard, 1)}, 0}
		}
		g, err := r.locker(of.run.notes.fail)
		if err != nil {
			return err
		}
		of.run.guards[of.at] = g
	}
	return nil
}

// folder prepares the folder of histories.
func (r *trial) folder() (err error) {
	if r.dir = r.settings.histories; r.dir != "" {
		if err = os.MkdirAll(r.dir, 0o755); err != nil {
			return fmt.Errorf("prepare the folder of histories: %w", err)
		}
		return nil
	}
	r.own = true
	if r.dir, err = os.MkdirTemp("", "locktest-"); err != nil {
		return fmt.Errorf("prepare a folder for histories: %w; hint: name one, %s", err, historyVariable)
	}
	return nil
}

func (r *trial) sides(p testCase) int {
	if r.settings.short {
		return min(p.sides, 2)
	}
	return p.sides
}

// undying reports whether nobody can tell when the lock of a crashed owner ends: it outlasts its
// lease, because it is renewed or has none.
func (r *trial) undying() bool { return r.abilities.lasts() && r.guards[0].Immortal() }

// skipReason says why the lock cannot take part in a test, empty if it can.
func (r *trial) skipReason(p testCase) string {
	switch {
	case p.lapses && r.starved != "":
		return r.starved
	case p.lapses && r.abilities.session:
		return "the lock has no lease: its owners do not lose it while they live"
	case p.cell == givenUp && r.abilities.session:
		return "what an acquire that was given up may have been granted lasts as long as its owner's session"
	case p.lapses && r.abilities.renews:
		return "the lock renews its leases by itself: its owners do not lose it while they live"
	case p.extends && !r.abilities.extend:
		return "the lock's leases cannot be extended: they are no lockbench.Extender"
	case p.cell == outlasting && r.starved != "":
		return r.starved
	case p.cell == outlasting && r.abilities.session:
		return "the lock has no lease that its owners could outlive"
	case p.cell == outlasting && !r.abilities.renews && !r.claims.Claims(outlasting):
		return "the lock does not renew its leases: what is held ended with its lease"
	case p.cell == abandoned && r.undying():
		return "what is held outlasts its lease, and its owner cannot be made to die: its Locker is no io.Closer"
	}
	return r.abilities.lacks(p.cell)
}

// run runs all cases, side by side.
func (r *trial) run(ctx context.Context) {
	var all sync.WaitGroup
	for _, sh := range r.runs {
		all.Go(func() { sh.run(ctx) })
	}
	all.Wait()
	r.doubtOthers()
}

// broken returns lockbench's own errors: histories that cannot be written.
func (r *trial) broken() (errs []error) {
	for _, sh := range r.runs {
		errs = append(errs, sh.err)
	}
	return errs
}

// givenUp is the cell of acquires that are cancelled.
var givenUp = lockbench.Recovery.At(lockbench.Cancel)

// abandoned is the cell of owners that die while they hold the lock.
var abandoned = lockbench.Recovery.At(lockbench.Crash)

// outlasting is the cell of owners that work on past their leases.
var outlasting = lockbench.Exclusion.At(lockbench.Outlived)

// file returns the name of the history of a test case.
func (r *trial) file(p testCase) string {
	name := strings.Map(func(c rune) rune {
		if strings.ContainsRune(`/\:*?"<>| `, c) {
			return '-'
		}
		return c
	}, r.settings.name)
	return r.dir + string(os.PathSeparator) + name + "-" + p.name + ".lbh"
}
