package load

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/workloads"
)

func TestMain(m *testing.M) {
	flag.Parse()
	// Runs in parallel mostly wait: for more of them than there are cores.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	servers.SilenceClients() // servers are lost on purpose here
	// A closed go-redis pool that could not dial ends within a second.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

func embedded(t *testing.T) *servers.Server {
	t.Helper()
	s, err := servers.StartEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// options are the options of a short run of four clients at one key.
func options(change func(*workloads.Options)) workloads.Options {
	o := workloads.Defaults()
	o.Clients, o.Wait, o.Hold, o.TTL = 4, 200*time.Millisecond, workloads.Always(time.Millisecond), time.Second
	o.Duration = 300 * time.Millisecond
	if change != nil {
		change(&o)
	}
	return o
}

func judge(t *testing.T, record []byte) (history.Header, checker.Result, history.End) {
	t.Helper()
	src, err := history.NewSource(bytes.NewReader(record))
	if err != nil {
		t.Fatalf("open the history: %v", err)
	}
	result, err := checker.Check(src)
	if err != nil {
		t.Fatalf("check the history: %v", err)
	}
	return src.Header(), result, src.End()
}

// keysLeft counts all keys on the server.
func keysLeft(t *testing.T, s design.Service) int64 {
	t.Helper()
	client := redis.NewClient(s.(*servers.Server).Options())
	defer client.Close()
	n, err := client.DBSize(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestRunSoundDesign makes short runs, which must leave nothing to be desired: of each
// workload in virtual time, and of one on a server.
func TestRunSoundDesign(t *testing.T) {
	for _, w := range workloads.By(workloads.Live) {
		t.Run(w.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := options(func(o *workloads.Options) { o.TTL, o.Period = 100*time.Millisecond, 20*time.Millisecond })
				runSound(t, Config{Design: slowly(tokenDesign()), Services: backend.Group{embedded(t)}, Workload: w, Options: o}, EndedDuration)
			})
		})
	}
	t.Run("private", func(t *testing.T) {
		t.Parallel()
		o := options(func(o *workloads.Options) { o.TTL, o.Duration, o.Operations = time.Minute, 0, 200 })
		runSound(t, Config{Design: tokenDesign(), Services: backend.Group{servertest.Start(t)}, Workload: workloads.Must("oversell"), Options: o}, EndedOperations)
	})
}

func runSound(t *testing.T, c Config, ends string) {
	var record bytes.Buffer
	progress := &Progress{}
	c.History, c.Progress = &record, progress
	s, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	_, result, end := judge(t, record.Bytes())
	if s.Ended != ends || end.Partial || end.Trailer.Ended != ends {
		t.Errorf("ended %q, in the history %+v; want %s", s.Ended, end, ends)
	}
	if s.Grants == 0 || s.Grants != result.Grants || progress.Grants.Load() != s.Grants {
		t.Errorf("grants: summary %d, history %d, progress %d; want the same, above 0", s.Grants, result.Grants, progress.Grants.Load())
	}
	exclusion := result.Find(lockbench.Exclusion.At(0)).Verdict
	if len(s.MonitorOverlaps) > 0 || len(result.Defects) > 0 || exclusion != checker.Held {
		t.Errorf("overlaps %v, defects %v, exclusion %v; want none and held", s.MonitorOverlaps, result.Defects, exclusion)
	}
	if s.Commands < s.Grants || s.MonitorEntries != s.Grants {
		t.Errorf("%d commands and %d entries monitored for %d grants", s.Commands, s.MonitorEntries, s.Grants)
	}
	if n := keysLeft(t, c.Services.First()); n != 0 {
		t.Errorf("%d keys left on the server", n)
	}
}

// TestRunUnsoundDesign: a slow holder of a lock that is deleted without a check lets
// others in together. Checker and monitor must both see it, and updates be lost.
func TestRunUnsoundDesign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(func(o *workloads.Options) {
			o.TTL, o.Slow, o.Clients, o.Duration = 50*time.Millisecond, 0.3, 8, time.Second
			o.Hold = workloads.Always(5 * time.Millisecond)
		})
		var record bytes.Buffer
		s, err := Run(t.Context(), Config{
			Design: slowly(plainDesign()), Services: backend.Group{embedded(t)}, Workload: workloads.Must("oversell"), Options: o, History: &record,
		})
		if err != nil {
			t.Fatal(err)
		}
		_, result, _ := judge(t, record.Bytes())
		if len(s.MonitorOverlaps) == 0 || len(result.Defects) > 0 {
			t.Errorf("overlaps %v, defects %v; want some and none", s.MonitorOverlaps, result.Defects)
		}
		for _, cell := range []lockbench.Cell{lockbench.Exclusion.At(lockbench.Outlived), lockbench.OwnerRelease.At(lockbench.Outlived)} {
			if got := result.Find(cell).Verdict; got != checker.Broken {
				t.Errorf("%s is %v, want broken", cell, got)
			}
		}
	})
}

func TestRunOperations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(func(o *workloads.Options) {
			o.Duration, o.Operations, o.KeyChoice = 0, 42, workloads.Own
		})
		s, err := Run(t.Context(), Config{
			Design: slowly(tokenDesign()), Services: backend.Group{embedded(t)}, Workload: workloads.Must("mutex"), Options: o, History: io.Discard,
		})
		if err != nil {
			t.Fatal(err)
		}
		if s.Ended != EndedOperations || s.Grants != 42 {
			t.Errorf("ended %q after %d grants, want operations after 42", s.Ended, s.Grants)
		}
	})
}

// TestRunInterrupted: locks held at the user's interrupt are released, and everything
// is recorded to the end.
func TestRunInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := embedded(t)
		o := options(func(o *workloads.Options) { o.Duration, o.Hold = time.Hour, workloads.Always(time.Minute) })
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		progress := &Progress{}
		go func() {
			for progress.Grants.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		var record bytes.Buffer
		s, err := Run(ctx, Config{
			Design: tokenDesign(), Services: backend.Group{server}, Workload: workloads.Must("oversell"), Options: o, History: &record, Progress: progress,
		})
		if err != nil {
			t.Fatal(err)
		}
		_, result, end := judge(t, record.Bytes())
		if s.Ended != EndedInterrupted || end.Partial || result.Unknown != 0 {
			t.Errorf("ended %q, history partial %v with %d unknown outcomes; want interrupted, complete, none", s.Ended, end.Partial, result.Unknown)
		}
		if n := keysLeft(t, server); n != 0 {
			t.Errorf("%d keys left on the server", n)
		}
	})
}

var errDisk = errors.New("no space left on device")

// fullDisk takes so many bytes and no more.
type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, errDisk
	}
	return len(p), nil
}

func TestRunDiskFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := embedded(t)
		o := options(func(o *workloads.Options) { o.Duration = time.Hour })
		s, err := Run(t.Context(), Config{
			Design: tokenDesign(), Services: backend.Group{server}, Workload: workloads.Must("mutex"), Options: o, History: &fullDisk{left: 10_000},
		})
		if !errors.Is(err, errDisk) {
			t.Errorf("Run = %v, want it to wrap %v", err, errDisk)
		}
		if s.Ended != EndedUnrecorded || s.Grants == 0 {
			t.Errorf("ended %q after %d grants, want %q after some", s.Ended, s.Grants, EndedUnrecorded)
		}
		if n := keysLeft(t, server); n != 0 {
			t.Errorf("%d keys left on the server", n)
		}
	})
}

// TestRunServerDies: no error, an end in time, and no false alarm.
func TestRunServerDies(t *testing.T) {
	server, err := servers.StartPrivate(t.Context())
	servertest.Need(t, err)
	defer server.Close()
	progress := &Progress{}
	go func() {
		for progress.Grants.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		client := redis.NewClient(server.Options())
		defer client.Close()
		client.ShutdownNoSave(context.Background())
	}()
	o := options(func(o *workloads.Options) { o.Duration = time.Hour })
	var record bytes.Buffer
	s, err := Run(t.Context(), Config{
		Design: tokenDesign(), Services: backend.Group{server}, Workload: workloads.Must("oversell"), Options: o, History: &record, Progress: progress,
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Ended != EndedServerLost || !strings.Contains(strings.Join(s.Notes, "\n"), "was lost") {
		t.Errorf("ended %q with notes %q, want %q and a note", s.Ended, s.Notes, EndedServerLost)
	}
	_, result, _ := judge(t, record.Bytes())
	for _, f := range result.Findings {
		if f.Verdict == checker.Broken {
			t.Errorf("%s is broken on a server that died: %+v", f.Cell, f)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	slowDesign := tokenDesign()
	slowDesign.Granted = design.WholeSeconds
	tolerant := tokenDesign()
	tolerant.Tolerance = time.Second
	broken := tokenDesign()
	broken.Open = func(design.Environment) (design.Process, error) { return nil, errDisk }
	lacking := tokenDesign()
	tests := []struct {
		name    string
		design  design.Design
		change  func(*workloads.Options)
		history io.Writer
		want    string
	}{
		{"options", lacking, func(o *workloads.Options) { o.TTL = 0 }, nil, "ttl 0s"},
		{"slow holds as granted", slowDesign, func(o *workloads.Options) { o.Slow, o.TTL = 0.1, 100*time.Millisecond }, nil, "grants 1s"},
		{"slow holds as tolerated", tolerant, func(o *workloads.Options) { o.Slow, o.TTL = 0.1, 100*time.Millisecond }, nil, "tolerates 1s"},
		{"process", broken, nil, nil, "open process 0"},
		{"header", lacking, nil, &fullDisk{}, errDisk.Error()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := embedded(t)
			_, err := Run(t.Context(), Config{
				Design: tt.design, Services: backend.Group{server}, Workload: workloads.Must("oversell"), Options: options(tt.change), History: tt.history,
			})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Run = %v, want an error with %q", err, tt.want)
			}
			if n := keysLeft(t, server); n != 0 {
				t.Errorf("%d keys left on the server", n)
			}
		})
	}
}

// TestRunNothingGranted: a run that measured nothing says so.
func TestRunNothingGranted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := tokenDesign()
		d.Open = func(design.Environment) (design.Process, error) { return fixedProcess{refusing{}}, nil }
		s, err := Run(t.Context(), Config{
			Design: d, Services: backend.Group{embedded(t)}, Workload: workloads.Must("mutex"), History: io.Discard,
			Options: options(func(o *workloads.Options) { o.Duration, o.Operations = 0, 8 }),
		})
		if err != nil {
			t.Fatal(err)
		}
		if s.Grants != 0 || s.Refused != 8 || !strings.Contains(strings.Join(s.Notes, "\n"), "nothing was measured") {
			t.Errorf("%d grants, %d refused, notes %q; want 0, 8 and a note", s.Grants, s.Refused, s.Notes)
		}
	})
}

// fixedProcess is a design's process with one locker for all owners.
type fixedProcess struct{ locker lockbench.Locker }

func (p fixedProcess) Locker(design.Observer) lockbench.Locker { return p.locker }

func (p fixedProcess) Close() error { return nil }

type refusing struct{}

func (refusing) Acquire(context.Context, string, lockbench.Options) (lockbench.Lease, error) {
	return nil, lockbench.ErrNotAcquired
}
