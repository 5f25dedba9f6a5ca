package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/drive/clockwatch"
	"github.com/lockbench/lockbench/internal/measure/clocks"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/workloads"
)

// together makes the two shares of a run over shared keys at the same time, on one server. Both begin when both are
// open. It returns their summaries and histories.
func together(t *testing.T, on *servers.Server, c Config, ended func(share int) error) (summaries [2]Summary, records [2]bytes.Buffer) {
	t.Helper()
	var open, stopped, done sync.WaitGroup
	open.Add(2)
	stopped.Add(2)
	c.Design, c.Services, c.Prefix = tokenDesign(), backend.Group{on}, servers.NewPrefix()
	c.Barrier = func(context.Context) error {
		open.Done()
		open.Wait()
		return nil
	}
	for i := range 2 {
		its := c
		its.History, its.Share = &records[i], runinfo.Share{Index: i, Of: 2}
		its.Ended = func(context.Context) error {
			stopped.Done()
			stopped.Wait()
			return ended(i)
		}
		done.Go(func() {
			var err error
			if summaries[i], err = Run(t.Context(), its); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	return summaries, records
}

// competing are the options of a counted run of eight clients, in two groups, for two keys.
func competing(change func(*workloads.Options)) workloads.Options {
	return options(func(o *workloads.Options) {
		o.Clients, o.Keys, o.Groups, o.SharedKeys, o.Wait, o.TTL = 8, 2, 2, true, time.Minute, time.Minute
		o.Duration, o.Operations, o.Hold = 0, 160, workloads.Always(time.Millisecond)
		if change != nil {
			change(o)
		}
	})
}

// TestSharedKeys checks that two shares with shared keys take all keys, write the same records with versions of their
// own, say that others hold the keys, and sum up no business; and that no key is removed before both have ended.
func TestSharedKeys(t *testing.T) {
	on := embedded(t)
	var swept sync.Mutex
	removed := false
	c := Config{Workload: workloads.Must("oversell"), Options: competing(nil)}
	summaries, records := together(t, on, c, func(share int) error {
		swept.Lock()
		defer swept.Unlock()
		if n := keysLeft(t, on); n == 0 && !removed {
			t.Errorf("share %d: the keys are gone before all clients have stopped", share)
		}
		removed = true
		return nil
	})
	if n := keysLeft(t, on); n != 0 {
		t.Errorf("%d keys left", n)
	}
	if summaries[0].Prefix != summaries[1].Prefix {
		t.Errorf("prefixes %s and %s", summaries[0].Prefix, summaries[1].Prefix)
	}
	versions := map[uint64]bool{}
	for i := range records {
		if b := summaries[i].Business; b == nil || b.Figures != nil || !strings.Contains(b.Why, "other machines") {
			t.Errorf("share %d: business %+v", i, b)
		}
		header, verdicts, _ := judge(t, records[i].Bytes())
		if !header.Others || header.Params["shared_keys"] != true {
			t.Errorf("share %d: others %v, parameters %v", i, header.Others, header.Params)
		}
		if verdicts.Breaches > 0 || verdicts.Grants != 80 {
			t.Errorf("share %d: %d breaches, %d grants, want 0 and 80", i, verdicts.Breaches, verdicts.Grants)
		}
		keys := map[string]bool{}
		for _, op := range operations(t, records[i].Bytes()) {
			keys[op.Key] = true
			if op.Kind == history.Write {
				if versions[op.Version] {
					t.Errorf("version %d is written twice", op.Version)
				}
				versions[op.Version] = true
			}
		}
		if !keys["key-0000"] || !keys["key-0001"] {
			t.Errorf("share %d takes the keys %v, want both", i, keys)
		}
	}
}

// operations returns the operations of clients in a history.
func operations(t *testing.T, record []byte) (ops []history.Op) {
	t.Helper()
	src, err := history.NewSource(bytes.NewReader(record))
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range src.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Phase == history.Call && ev.Op.Client >= 0 {
			ops = append(ops, *ev.Op)
		}
	}
	return ops
}

// TestSharedKeysOfStallers checks that all shares have stallers and processes of their own, and end.
func TestSharedKeysOfStallers(t *testing.T) {
	on := embedded(t)
	c := Config{Workload: workloads.Must("oversell"), Options: competing(func(o *workloads.Options) { o.Stallers, o.TTL = 6, 50*time.Millisecond })}
	of := map[int32]int{}
	_, records := together(t, on, c, func(int) error { return nil })
	for i := range records {
		for _, op := range operations(t, records[i].Bytes()) {
			if other, is := of[op.Client]; is && other != i {
				t.Fatalf("client %d is in both shares", op.Client)
			}
			of[op.Client] = i
		}
	}
	for _, staller := range []int32{8, 9} {
		if share, is := of[staller]; !is || share != int(staller%2) {
			t.Errorf("staller %d is in share %d, %v; want %d", staller, share, is, staller%2)
		}
	}
}

// TestKeysOfOthers checks that keys are left, and that a note says so, if others may still use them; also if no
// client has begun.
func TestKeysOfOthers(t *testing.T) {
	for _, begins := range []bool{true, false} {
		t.Run(fmt.Sprint(begins), func(t *testing.T) {
			on := embedded(t)
			c := Config{Workload: workloads.Must("oversell"), Options: competing(nil), Design: tokenDesign(), Services: backend.Group{on}, Prefix: "lockbench:x:"}
			c.Ended = func(context.Context) error { return errors.New("machine 2 is lost") }
			if !begins {
				c.Barrier = func(context.Context) error { return errors.New("no start") }
			}
			s, err := Run(t.Context(), c)
			if (err == nil) != begins {
				t.Fatal(err)
			}
			if n := keysLeft(t, on); n != 2 || len(s.Notes) == 0 || s.Notes[0] != "keys lockbench:x:* may be left on the server: machine 2 is lost" {
				t.Errorf("%d keys are left, want 2; notes %q", n, s.Notes)
			}
		})
	}
}

// TestClocksOfRun checks that the history of a run relates its stamps to the common clock.
func TestClocksOfRun(t *testing.T) {
	if err := clockwatch.Check(); err != nil {
		t.Skip(err)
	}
	var record bytes.Buffer
	zero := clockwatch.Raw()
	long := competing(func(o *workloads.Options) { o.Hold = workloads.Always(5 * time.Millisecond) })
	c := Config{Workload: workloads.Must("oversell"), Options: long, Design: tokenDesign(), Services: backend.Group{embedded(t)}, History: &record}
	c.CommonClock = func(context.Context) (int64, error) { return clockwatch.Raw() - zero, nil }
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	src, err := history.NewSource(&record)
	if err != nil {
		t.Fatal(err)
	}
	var windows []clocks.Window
	var probes []clocks.Comparison
	for ev, err := range src.Events() {
		if err != nil {
			t.Fatal(err)
		}
		switch op := ev.Op; {
		case ev.Phase != history.Call:
		case op.Kind == history.Probe:
			probes = append(probes, clocks.Comparison{Before: int64(op.Base), Other: op.Value, After: int64(op.Base) + op.Delay})
		case op.Kind == history.Clock:
			windows = append(windows, clocks.Window{From: int64(op.Base) - op.Delay, Until: int64(op.Base), Least: op.Value, Largest: op.Value + op.Wait})
		}
	}
	clock := clocks.NewClock(windows, probes)
	if clock == nil {
		t.Fatalf("%d windows and %d probes say nothing", len(windows), len(probes))
	}
	if least, most, known := clock.At(src.End().Trailer.EndNS / 2); !known || least > most {
		t.Errorf("in the middle it is %d to %d, known %v", least, most, known)
	}
}
