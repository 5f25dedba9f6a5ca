package machines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/internal/drive/inject"
	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/lib/processor"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
)

// A recording is a run that an agent makes its share of, and the file of its history.
type recording struct {
	order    order
	file     *os.File
	written  atomic.Int64 // bytes of the history
	progress load.Progress
	served   atomic.Bool // the coordinator has the result, after the history

	cancel         context.CancelFunc
	broken, failed chan struct{}
	at             chan int64    // the instant at which the clients begin
	ready          atomic.Bool   // it waits for that instant, or has done so
	met            chan struct{} // closed once clients may meet faults of servers
	over           atomic.Bool   // they end
	stopped        atomic.Bool   // none of them is left, nor will begin
	others         chan string   // whether clients of other machines have stopped: empty, or a reason why some may not have
	done           chan struct{}
	ending         sync.Mutex // guards broken and failed

	clients inject.Clients // set before met is closed
	applied int            // number of the last effect on them

	// Set before done is closed.
	summary load.Summary
	err     error
	busy    *float64 // nil if unknown
}

// record begins a run.
func (a *Agent) record(o order) (*recording, error) {
	c, err := o.config()
	if err != nil {
		return nil, err
	}
	r := &recording{order: o, broken: make(chan struct{}), failed: make(chan struct{}), at: make(chan int64, 1), met: make(chan struct{}), others: make(chan string, 1), done: make(chan struct{})}
	path := filepath.Join(a.History, results.PartName(fmt.Sprintf("%02d-%s", o.Run, o.Design), o.Share))
	if r.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return nil, fmt.Errorf("%w; hint: another --history", err)
	}
	var ctx context.Context
	ctx, r.cancel = context.WithCancel(context.Background())
	c.History, c.Progress, c.Broken, c.Failed = r, &r.progress, r.broken, r.failed
	c.Barrier = func(ctx context.Context) error { return r.await(ctx, a.clock) }
	if o.Options.SharedKeys {
		c.Ended = r.awaitOthers
	}
	if o.Way != nil {
		c.Host = &load.Host{Server: o.Way.Server, Meets: func(clients inject.Clients) {
			r.clients = clients
			close(r.met)
		}, Ends: func() { r.over.Store(true) }}
	}
	a.Say("run %d: %s", o.Run, o.Design)
	go func() {
		defer close(r.done)
		r.err = r.make(ctx, a, c)
	}()
	return r, nil
}

// make makes the run.
func (r *recording) make(ctx context.Context, a *Agent, c load.Config) error {
	reached, err := a.reach(ctx, r.order)
	if err != nil {
		return err
	}
	if r.order.Options.SharedKeys {
		asking, err := a.dial(ctx)
		if err != nil {
			return errors.Join(err, reached.close())
		}
		defer asking.Close()
		c.CommonClock = func(ctx context.Context) (at int64, err error) {
			err = request(ctx, asking, a.subjects+probeVerb, struct{}{}, &at, func() error { return errSilent })
			return at, err
		}
	}
	used := processor.Busy()
	c.Records = reached.records
	r.summary, err = runner.Record(ctx, c, reached.servers)
	r.busy = used()
	return errors.Join(err, reached.close())
}

// apply applies an effect of a fault of a server, unless the run has ended or it was applied already. One
// goroutine at a time calls it.
func (r *recording) apply(e effect) {
	select {
	case <-r.met:
	case <-r.done:
		return
	}
	if e.Number > r.applied {
		r.applied = e.Number
		r.clients.Apply(e.Effect)
	}
}

// holding returns the state of the locks at the next grant, or after wait.
func (r *recording) holding(wait time.Duration) inject.Holding {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-r.met:
		return r.clients.Holding(context.Background(), wait)
	case <-r.done:
	case <-timer.C:
	}
	return inject.Holding{}
}

// Write implements io.Writer for the history. An agent reads the file meanwhile.
func (r *recording) Write(b []byte) (int, error) {
	n, err := r.file.Write(b)
	r.written.Add(int64(n))
	return n, err
}

// await waits for the instant at which the clients begin.
func (r *recording) await(ctx context.Context, clock *comparison) error {
	r.ready.Store(true)
	var begins time.Time
	select {
	case at := <-r.at:
		begins = clock.local(at)
	case <-ctx.Done():
		return ctx.Err()
	}
	timer := time.NewTimer(time.Until(begins))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin names the instant at which the clients begin. A second call changes nothing.
func (r *recording) begin(at int64) {
	select {
	case r.at <- at:
	default:
	}
}

// othersEnd bounds the wait of a run that was interrupted for the clients of other machines: they were most likely
// interrupted, too, and then take less.
const othersEnd = 30 * time.Second

// awaitOthers waits, when the clients have stopped, until the clients of all machines have. It returns an error if some may
// still run.
func (r *recording) awaitOthers(ctx context.Context) error {
	r.stopped.Store(true)
	if !r.ready.Load() {
		return nil // then no machine has begun
	}
	interrupted := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case why := <-r.others:
			if why != "" {
				return errors.New(why)
			}
			return nil
		case <-interrupted:
			interrupted, late = nil, time.After(othersEnd)
		case <-late:
			return errors.New("clients of other machines may still run")
		}
	}
}

// othersEnded tells that the clients of all machines have stopped, or why some may not have. The first call counts.
func (r *recording) othersEnded(why string) {
	select {
	case r.others <- why:
	default:
	}
}

// stop ends the run for a reason of package load.
func (r *recording) stop(why string) {
	r.ending.Lock()
	defer r.ending.Unlock()
	ends := map[string]*chan struct{}{load.EndedBroken: &r.broken, load.EndedFailed: &r.failed}[why]
	switch {
	case ends == nil:
		r.cancel()
	case *ends != nil:
		close(*ends)
		*ends = nil // the run has the channel
	}
}

func (r *recording) hasEnded() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// describe adds the state of the run to a beat.
func (r *recording) describe(b *beat) {
	p := &r.progress
	b.Run, b.Ready, b.Over, b.Stopped, b.Ended = r.order.Run, r.ready.Load(), r.over.Load(), r.stopped.Load(), r.hasEnded()
	b.Grants, b.Refused, b.Failed, b.Length = p.Grants.Load(), p.Refused.Load(), p.Failed.Load(), p.Duration.Load()
}

// result returns the outcome, once the run has ended.
func (r *recording) result() result {
	<-r.done
	its := result{Notes: r.summary.Notes, Busy: r.busy}
	if r.err != nil {
		its.Err = r.err.Error()
	}
	return its
}

// block returns the block of a history that a pull asks for.
func (a *Agent) block(text []byte) (block []byte, whole bool, err error) {
	var q pull
	if err := json.Unmarshal(text, &q); err != nil {
		return nil, false, err
	}
	type part struct {
		block []byte
		whole bool
		err   error
	}
	its, err := of(a, q.Run, func(r *recording) (its part) {
		ended := r.hasEnded() // and then nothing more is written
		has := r.written.Load() - q.Offset
		its.block = make([]byte, max(0, min(has, q.Length, blockSize)))
		if len(its.block) > 0 {
			if _, its.err = r.file.ReadAt(its.block, q.Offset); its.err != nil {
				its.block = nil
			}
		}
		its.whole = its.err == nil && ended && has == int64(len(its.block))
		return its
	})
	return its.block, its.whole, errors.Join(err, its.err)
}
