package load

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/workloads"
)

// TestHosts checks that a process which replaces a dead one has its host, and another id, and that
// no two processes live on one host.
func TestHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := slowly(tokenDesign())
		inner := d.Open
		var mu sync.Mutex
		ids := map[string][]int{}
		d.Open = func(env design.Environment) (design.Process, error) {
			mu.Lock()
			defer mu.Unlock()
			ids[env.Host] = append(ids[env.Host], env.PID)
			return inner(env)
		}
		var record bytes.Buffer
		o := options(func(o *workloads.Options) { o.Processes = 3 })
		if _, err := Run(t.Context(), Config{
			clock: sleeper{}, Design: d, Services: backend.Group{embedded(t)}, Workload: workloads.Must("mutex"), History: &record,
			Options: o, Faults: []fault.Fault{mustParse(t, "crash,p=0.02")},
		}); err != nil {
			t.Fatal(err)
		}
		seen, replaced := map[int]bool{}, false
		for host, pids := range ids {
			replaced = replaced || len(pids) > 1
			for _, pid := range pids {
				if seen[pid] {
					t.Errorf("%s: process id %d twice", host, pid)
				}
				seen[pid] = true
			}
		}
		if len(ids) != 3 || !replaced {
			t.Errorf("got the processes %v; want three hosts, and a process that was replaced", ids)
		}
	})
}

// halfReady is a program that one client may use, and for which others wait until it ends.
type halfReady struct {
	design.Process
	waiting atomic.Int64
	ended   chan struct{}
	end     func()
}

func (p *halfReady) Ready(context.Context) error {
	if p.waiting.Add(1) == 1 {
		return nil
	}
	<-p.ended
	return errors.New("it was killed")
}

func (p *halfReady) Done() <-chan struct{} { return p.ended }
func (p *halfReady) Err() error            { return nil }
func (p *halfReady) Suspend() error        { return nil }
func (p *halfReady) Resume() error         { return nil }

func (p *halfReady) Kill() error {
	p.end()
	return nil
}

func (p *halfReady) Close() error {
	p.end()
	return p.Process.Close()
}

// TestProcessCrashesBeforeItIsReady checks that a client which waits for a process that crashes goes on
// in the next one.
func TestProcessCrashesBeforeItIsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := slowly(tokenDesign())
		inner, opened := d.Open, 0
		d.Open = func(env design.Environment) (design.Process, error) {
			p, err := inner(env)
			opened++
			if err != nil || opened == 1 { // the run waits for the first before it begins
				return p, err
			}
			ended := make(chan struct{})
			return &halfReady{Process: p, ended: ended, end: sync.OnceFunc(func() { close(ended) })}, nil
		}
		var record bytes.Buffer
		o := options(func(o *workloads.Options) {
			o.Clients, o.Processes, o.TTL, o.Duration = 2, 1, 50*time.Millisecond, 2*time.Second
		})
		if _, err := Run(t.Context(), Config{
			clock: sleeper{}, Design: d, Services: backend.Group{embedded(t)}, Workload: workloads.Must("mutex"), History: &record,
			Options: o, Faults: []fault.Fault{mustParse(t, "crash,p=0.02")},
		}); err != nil {
			t.Fatal(err)
		}
		src, err := history.NewSource(&record)
		if err != nil {
			t.Fatal(err)
		}
		late := map[int32]int{} // acquires in the second quarter, by client: no process crashes in the last half
		for event, err := range src.Events() {
			if err != nil {
				t.Fatal(err)
			}
			if op := event.Op; op != nil && op.Kind == history.Acquire && op.Call > int64(o.Duration)/4 && op.Call < int64(o.Duration)/2 {
				late[op.Client%int32(o.Clients)]++
			}
		}
		if opened < 4 || late[0] == 0 || late[1] == 0 {
			t.Errorf("%d processes, acquires of the clients in the second quarter %v; want some of both", opened, late)
		}
	})
}
