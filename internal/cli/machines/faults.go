package machines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/inject"
	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/fault"
)

// serverFaults injects the faults of the servers of a run, whose clients are on the machines. Its methods do
// nothing to a nil one, of a run without such faults.
type serverFaults struct {
	injector *inject.Injector
	stop     context.CancelFunc // ends the faults
	over     <-chan struct{}    // closed then
	normal   func() error       // ends them, and returns their errors once the servers are normal again
	done     sync.WaitGroup
}

// openFaults prepares the servers for their faults, before the machines connect to them.
func (c *Coordinator) openFaults(ctx context.Context, run load.Config, number int) (*serverFaults, error) {
	ofServer := func(f fault.Fault) bool { return fault.Of(f.Kind).Target == fault.Server }
	if run.Services.First().Kind() == design.External || !slices.ContainsFunc(run.Faults, ofServer) {
		return nil, nil
	}
	in, err := load.ServerFaults(run, &affected{of: c, run: number})
	if err != nil {
		return nil, err
	}
	if err := in.Open(ctx); err != nil {
		return nil, errors.Join(err, in.Stop())
	}
	lasting, stop := context.WithCancel(context.Background())
	return &serverFaults{injector: in, stop: stop, over: lasting.Done(), normal: sync.OnceValue(in.Stop)}, nil
}

// prepare prepares the faults, when the machines have connected to the servers.
func (f *serverFaults) prepare(ctx context.Context) error {
	if f == nil {
		return nil
	}
	return f.injector.Prepare(ctx, nil)
}

// begin lets faults occur from an instant on, for length, zero for no bound, or until end.
func (f *serverFaults) begin(from time.Time, length time.Duration) {
	if f == nil {
		return
	}
	f.done.Go(func() {
		if !f.sleep(time.Until(from)) {
			return
		}
		f.injector.Start()
		if length > 0 {
			f.sleep(time.Until(from.Add(length)))
		} else {
			<-f.over
		}
		_ = f.normal() // close returns it
	})
}

// sleep reports whether d has passed before the faults end.
func (f *serverFaults) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-f.over:
		return false
	}
}

// end ends the faults, and does not wait.
func (f *serverFaults) end() {
	if f != nil {
		f.stop()
	}
}

// close ends the faults, and returns their errors once the servers are normal again.
func (f *serverFaults) close() error {
	if f == nil {
		return nil
	}
	f.stop()
	f.done.Wait()
	return f.normal()
}

// affected are the clients of all machines in a run, as faults of servers affect them.
type affected struct {
	of   *Coordinator
	run  int
	last int // number of the last effect
}

// Apply implements [inject.Clients]. The history of a machine that does not take the effect ends before
// it, because nothing may be concluded from a history that lacks the fault.
func (a *affected) Apply(e inject.Effect) {
	a.last++
	q := effect{Run: a.run, Number: a.last, Effect: e}
	until := time.Now().Add(2 * lostAfter)
	each(a.of.machines, func(_ int, m *machine) error {
		give := func() error { return m.deaf(until) }
		err := give()
		if err == nil {
			err = m.ask(context.Background(), effectVerb, q, nil, give)
		}
		if err != nil && !errors.Is(err, errCopied) {
			return m.tear(err)
		}
		return nil
	})
}

// Holding implements [inject.Clients].
func (a *affected) Holding(ctx context.Context, wait time.Duration) (all inject.Holding) {
	wait = min(wait, longestWait)
	pause := time.NewTimer(wait)
	defer pause.Stop()
	asking, enough := context.WithTimeout(ctx, wait+beatInterval)
	defer enough()
	var mu sync.Mutex
	each(a.of.machines, func(_ int, m *machine) error {
		var its inject.Holding
		err := m.ask(asking, holdingVerb, holding{Run: a.run, Wait: wait}, &its, func() error { return errSilent })
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		all.Granted, all.Held, all.Unreplicated = all.Granted || its.Granted, all.Held || its.Held, all.Unreplicated || its.Unreplicated
		if its.Granted {
			enough()
		}
		return nil
	})
	if !all.Granted { // machines that have ended answer at once
		select {
		case <-pause.C:
		case <-ctx.Done():
		}
	}
	return all
}

// longestWait bounds the wait of an agent for a grant, and so how long one is busy with a question that is asked
// no more.
const longestWait = 100 * time.Millisecond

// errCopied says that the history of a machine is complete.
var errCopied = errors.New("the run has ended")

// deaf returns the reason why a machine need not, or cannot, be told of an effect. It should be told until then.
func (m *machine) deaf(until time.Time) error {
	m.of.mu.Lock()
	copied := m.copied
	m.of.mu.Unlock()
	switch {
	case copied:
		return errCopied
	case time.Now().After(until):
		return fmt.Errorf("%v does not take the fault of a server", m)
	}
	return m.lost()
}
