package machines

import (
	"bytes"
	stdcmp "cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counted are the options of a run with so many operations, in four groups, all of which succeed.
func counted(operations int64) workloads.Options {
	o := workloads.Defaults()
	o.Clients, o.Keys, o.Groups, o.Wait, o.TTL = 8, 8, 4, time.Minute, time.Minute
	o.Hold, o.Duration, o.Operations, o.Seed = workloads.Always(0), 0, operations, 7
	return o
}

// planOf returns a plan of one lock on files, whose history it keeps.
func planOf(t *testing.T, o workloads.Options) runner.Plan {
	t.Helper()
	t.Setenv("GOMAXPROCS", "2") // agents in one process would set it against each other
	d, err := impls.Match("file/excl")
	if err != nil {
		t.Fatal(err)
	}
	w, err := workloads.Find(workloads.Live, "oversell")
	if err != nil {
		t.Fatal(err)
	}
	return runner.Plan{Subjects: []runner.Subject{{Design: d[0]}}, Workload: w, Options: o, Servers: []string{"file://" + t.TempDir()}, History: t.TempDir()}
}

// A crew is a coordinator and its agents, in this process.
type crew struct {
	*Coordinator
	agents []*Agent
	// interrupt interrupts all agents.
	interrupt context.CancelFunc
	served    sync.WaitGroup
	errs      []error // of the agents, once served is done
}

// listening is the configuration of a coordinator that agents on this machine reach.
func listening(p runner.Plan) Config { return Config{Listen: "127.0.0.1:0", Servers: p.Servers} }

// gather starts a coordinator and n agents. They end with t.
func gather(t *testing.T, n int, config Config) *crew {
	t.Helper()
	c := &crew{errs: make([]error, n)}
	ctx, cancel := context.WithCancel(context.Background())
	c.interrupt = cancel
	come := make([]*Agent, n) // by their shares
	var greeted sync.WaitGroup
	greeted.Add(n)
	tell := make(chan string, 1)
	say := func(format string, args ...any) {
		if line := fmt.Sprintf(format, args...); strings.Contains(line, "lockbench agent") {
			tell <- line
		}
	}
	for i := range n {
		a := &Agent{History: t.TempDir(), Authority: config.Certificate}
		first := sync.OnceFunc(func() { // the line that tells its share
			come[a.share.Index] = a
			greeted.Done()
		})
		a.Say = func(string, ...any) { first() }
		c.served.Go(func() {
			fields := strings.Fields(<-tell)
			tell <- strings.Join(fields, " ")
			a.URL, a.Token = stdcmp.Or(config.URL, fields[len(fields)-3]), stdcmp.Or(config.Token, fields[len(fields)-1])
			c.errs[i] = a.Serve(ctx)
		})
	}
	var err error
	config.Machines, config.Say = n, say
	if c.Coordinator, err = Open(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	greeted.Wait()
	c.agents = come
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		c.served.Wait()
		cancel()
	})
	return c
}

// run runs a plan on the crew. It calls meddle, unless that is nil, when clients were granted locks.
func (c *crew) run(t *testing.T, p runner.Plan, meddle func()) runner.Result {
	t.Helper()
	p.Machines = c
	var meddling sync.WaitGroup
	over := make(chan struct{})
	var once sync.Once
	r, err := runner.Run(t.Context(), p, runner.Sink{Begin: func(_ runner.Subject, progress func() runner.Progress) {
		meddling.Go(func() {
			for progress().Grants == 0 {
				select {
				case <-over:
					return
				case <-time.After(time.Millisecond):
				}
			}
			if meddle != nil {
				once.Do(meddle)
			}
		})
	}})
	close(over)
	meddling.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// eachEvent calls f for the events of all histories in a folder, in order, with the index of their history. It
// returns the headers.
func eachEvent(t *testing.T, folder string, f func(i int, ev history.Event)) (all []history.Header) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.lbh"))
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		src, err := history.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		for ev, err := range src.Events() {
			if err != nil {
				t.Fatal(err)
			}
			f(i, ev)
		}
		all = append(all, src.Header())
	}
	return all
}

// asked lists, for each client, the keys that it acquired, in order, in the histories of a folder.
func asked(t *testing.T, folder string) map[int32]string {
	t.Helper()
	all := map[int32]string{}
	eachEvent(t, folder, func(_ int, ev history.Event) {
		if ev.Phase == history.Call && ev.Op.Kind == history.Acquire {
			all[ev.Op.Client] += ev.Op.Key + " "
		}
	})
	return all
}

// TestRequests checks that one, two and four machines make the requests of a run without machines, each by
// the same client, and sell as much together.
func TestRequests(t *testing.T) {
	want := map[int32]string{}
	for _, n := range []int{0, 1, 2, 4} {
		p := planOf(t, counted(160))
		var r runner.Result
		if n == 0 {
			var err error
			if r, err = runner.Run(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			want = asked(t, p.History)
		} else {
			r = gather(t, n, listening(p)).run(t, p, nil)
		}
		j := &r.Runs[0]
		if j.Err != nil || j.Verdicts.Partial || len(j.Machines) != n || j.Verdicts.Grants != 160 {
			t.Fatalf("%d machines: %d counted, %d grants, partial %v, error %v", n, len(j.Machines), j.Verdicts.Grants, j.Verdicts.Partial, j.Err)
		}
		if b := j.Measures.Business; b == nil || !strings.Contains(b.Says, "sold 160, and 160 are gone") {
			t.Errorf("%d machines: business %+v", n, b)
		}
		if diff := cmp.Diff(asked(t, p.History), want); diff != "" || len(want) != 8 {
			t.Errorf("%d machines (-machines +one process):\n%s", n, diff)
		}
	}
}

// TestBrokenConnections checks that connections that break, of the agents and of the coordinator, lose
// nothing of a run, and that the copies are the agents' histories.
func TestBrokenConnections(t *testing.T) {
	p := planOf(t, counted(6000))
	c := gather(t, 2, listening(p))
	r := c.run(t, p, func() {
		for _, a := range c.agents {
			if err := errors.Join(a.conn.ForceReconnect(), c.conn.ForceReconnect()); err != nil {
				t.Error(err)
			}
		}
	})
	if j := &r.Runs[0]; j.Err != nil || j.Verdicts.Partial || j.Verdicts.Grants != 6000 {
		t.Errorf("%d grants, partial %v, error %v", j.Verdicts.Grants, j.Verdicts.Partial, j.Err)
	}
	for i, a := range c.agents {
		own, err := filepath.Glob(filepath.Join(a.History, "*.lbh"))
		copied, err2 := filepath.Glob(filepath.Join(p.History, fmt.Sprintf("*.part-%d-of-2.lbh", i+1)))
		if err := errors.Join(err, err2); err != nil || len(own) != 1 || len(copied) != 1 {
			t.Fatalf("histories %v, copies %v, error %v", own, copied, err)
		}
		if !bytesEqual(t, own[0], copied[0]) {
			t.Errorf("%s is no copy of %s", copied[0], own[0])
		}
	}
}

// TestLostAgent checks that a run without one of its machines is partial and tells which, that the other
// machine's share is whole, and that the lost one ends by itself and keeps its history.
func TestLostAgent(t *testing.T) {
	o := counted(0)
	o.Duration = 3 * time.Second
	p := planOf(t, o)
	c := gather(t, 2, listening(p))
	r := c.run(t, p, func() { c.agents[1].conn.Close() })
	j := &r.Runs[0]
	if !j.Verdicts.Partial || j.Err == nil || !strings.Contains(j.Err.Error(), "machine 2 ") || !strings.Contains(j.Err.Error(), "is lost") {
		t.Errorf("partial %v, error %v", j.Verdicts.Partial, j.Err)
	}
	if r.Exit() != 3 {
		t.Errorf("exit %d, want 3", r.Exit())
	}
	judged, err := runner.Judge(filepath.Join(p.History, "file-excl.part-1-of-2.lbh"), nil)
	if err != nil || judged.Verdicts.Partial || judged.Verdicts.Grants == 0 {
		t.Errorf("the other share: %d grants, partial %v, error %v", judged.Verdicts.Grants, judged.Verdicts.Partial, err)
	}
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "machine 2 ") {
		t.Errorf("another run could be made: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	c.served.Wait()
	if !slices.ContainsFunc(c.errs, func(err error) bool { return errors.Is(err, ErrCoordinatorLost) }) {
		t.Errorf("the agents ended by %v, want %v", c.errs, ErrCoordinatorLost)
	}
	kept, err := filepath.Glob(filepath.Join(c.agents[1].History, "*.lbh"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept %v, error %v", kept, err)
	}
	if judged, err = runner.Judge(kept[0], nil); err != nil || judged.Verdicts.Partial || judged.Verdicts.Grants == 0 {
		t.Errorf("its own history: %d grants, partial %v, error %v", judged.Verdicts.Grants, judged.Verdicts.Partial, err)
	}
}

// TestRefusals checks that a coordinator sends wrong agents away, and the error of a run that a machine cannot make.
func TestRefusals(t *testing.T) {
	p := planOf(t, counted(8))
	c := gather(t, 1, listening(p))
	for _, x := range []struct {
		name, want string
		change     func(*Agent)
	}{
		{"one too many", "all 1 agents have come", func(*Agent) {}},
		{"of another token", "Authorization Violation", func(a *Agent) { a.Token = "other" }},
		{"at no address", "not an address of NATS", func(a *Agent) { a.URL = "http://127.0.0.1:1" }},
	} {
		a := &Agent{URL: c.agents[0].URL, Token: c.agents[0].Token, History: t.TempDir(), Say: func(string, ...any) {}}
		x.change(a)
		if err := a.Serve(t.Context()); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.name, err, x.want)
		}
	}
	if _, err := c.greet(hello{ID: "x", Version: "v0.0.1", Host: "h"}); err == nil || !strings.Contains(err.Error(), "the agent on h is lockbench v0.0.1") {
		t.Errorf("another version: %v", err)
	}
	c.agents[0].History = filepath.Join(t.TempDir(), "missing")
	p.Machines = c
	if _, err := runner.Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), "machine 1 ") || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a folder that is missing: %v", err)
	}
}

// TestEnds checks that an interrupted agent ends its run in good order: its history is whole, and no other
// run is made.
func TestEnds(t *testing.T) {
	o := counted(0)
	o.Duration = time.Minute
	p := planOf(t, o)
	c := gather(t, 1, listening(p))
	r := c.run(t, p, c.interrupt)
	if j := &r.Runs[0]; j.Err != nil || j.Verdicts.Grants == 0 || j.End.Trailer.Ended != "interrupted" {
		t.Errorf("%d grants, ended by %q, error %v", j.Verdicts.Grants, j.End.Trailer.Ended, j.Err)
	}
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "was interrupted") {
		t.Errorf("another run could be made: %v", err)
	}
	c.served.Wait()
	if !errors.Is(c.errs[0], context.Canceled) {
		t.Errorf("the agent ended by %v", c.errs[0])
	}
}

// TestFailFast checks that a broken claim on one machine ends the run on all.
func TestFailFast(t *testing.T) {
	o := counted(0)
	o.Duration, o.Hold, o.TTL, o.Keys, o.Stallers = time.Minute, workloads.Always(time.Millisecond), time.Second, 4, 0
	p := planOf(t, o)
	d, err := impls.Match("file/presence")
	if err != nil {
		t.Fatal(err)
	}
	if d[0], err = runner.Claiming(d[0], "exclusion"); err != nil {
		t.Fatal(err)
	}
	p.Subjects[0].Design, p.FailFast = d[0], true
	r := gather(t, 2, listening(p)).run(t, p, nil)
	if j := &r.Runs[0]; j.Err != nil || j.Verdicts.Partial || j.End.Trailer.Ended != "claim broken" || r.Exit() != 1 {
		t.Errorf("ended by %q, exit %d, partial %v, error %v", j.End.Trailer.Ended, r.Exit(), j.Verdicts.Partial, j.Err)
	}
}

// TestNextAfterFailure checks that a run which one machine cannot open leaves the other able to make the next.
func TestNextAfterFailure(t *testing.T) {
	p := planOf(t, counted(80))
	c := gather(t, 2, listening(p))
	good := c.agents[1].History
	c.agents[1].History = filepath.Join(t.TempDir(), "missing")
	p.Machines = c
	if _, err := runner.Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), "machine 2 ") {
		t.Errorf("a run without a folder on one machine: %v", err)
	}
	c.agents[1].History = good
	if r := c.run(t, p, nil); r.Runs[0].Err != nil || r.Runs[0].Verdicts.Grants != 80 {
		t.Errorf("the next run: %d grants, error %v", r.Runs[0].Verdicts.Grants, r.Runs[0].Err)
	}
}

// usersOwn are services of the user's, which agents reach at the addresses of the coordinator's configuration.
var usersOwn = backend.Group{usersServer{}}

type usersServer struct{ design.Service }

func (usersServer) Kind() string { return design.External }

// TestFullDisk checks that a copy which cannot be written ends the share with an error, that no other run is
// made, and that the agent is told and keeps its history.
func TestFullDisk(t *testing.T) {
	o := counted(0)
	o.Duration = time.Minute
	p := planOf(t, o)
	c := gather(t, 1, listening(p))
	run := load.Config{Design: p.Subjects[0].Design, Services: usersOwn, Workload: p.Workload, Options: o}
	parts, _ := c.Record(t.Context(), run, []io.Writer{fullDisk{}})
	if err := parts[0].Err; err == nil || !strings.Contains(err.Error(), "the copy of the history of machine 1 ") {
		t.Errorf("got %v", err)
	}
	if err := c.Err(); err == nil {
		t.Error("another run could be made")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	c.served.Wait()
	if err := c.errs[0]; err == nil || !strings.Contains(err.Error(), "a history was not copied completely") {
		t.Errorf("the agent ended by %v", err)
	}
	kept, err := filepath.Glob(filepath.Join(c.agents[0].History, "*.lbh"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept %v, error %v", kept, err)
	}
	if judged, err := runner.Judge(kept[0], nil); err != nil || judged.Verdicts.Partial {
		t.Errorf("its own history: partial %v, error %v", judged.Verdicts.Partial, err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestSlowConnection checks that blocks become shorter while they do not arrive in time, and longer again.
func TestSlowConnection(t *testing.T) {
	p := planOf(t, counted(6000))
	c := gather(t, 1, listening(p))
	run := load.Config{Design: p.Subjects[0].Design, Services: usersOwn, Workload: p.Workload, Options: p.Options}
	var whole bytes.Buffer
	if parts, _ := c.Record(t.Context(), run, []io.Writer{&whole}); parts[0].Err != nil {
		t.Fatal(parts[0].Err)
	}
	m, length := c.machines[0], int64(shortest)
	var got bytes.Buffer
	for lengths := []int64{}; ; lengths = append(lengths, length) {
		block, ends, err := m.pull(t.Context(), pull{Run: 1, Offset: int64(got.Len())}, &length)
		if err != nil {
			t.Fatal(err)
		}
		got.Write(block)
		if ends {
			if slices.Max(lengths) <= shortest {
				t.Errorf("lengths of blocks %v", lengths)
			}
			break
		}
	}
	if !bytes.Equal(got.Bytes(), whole.Bytes()) {
		t.Errorf("%d bytes in short blocks, want %d", got.Len(), whole.Len())
	}
}

// TestUnreachableServer checks that a machine which does not reach the server is named, with the address and a
// hint.
func TestUnreachableServer(t *testing.T) {
	p := planOf(t, counted(8))
	d, err := impls.Match("lua-token/token")
	if err != nil {
		t.Fatal(err)
	}
	address, err := servers.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	c := gather(t, 1, Config{Listen: "127.0.0.1:0", Servers: []string{"redis://" + address}})
	run := load.Config{Design: d[0], Services: usersOwn, Workload: p.Workload, Options: p.Options}
	parts, _ := c.Record(t.Context(), run, []io.Writer{io.Discard})
	if err := parts[0].Err; err == nil || !strings.Contains(err.Error(), "machine 1 ") || !strings.Contains(err.Error(), address) || !strings.Contains(err.Error(), "hint: ") {
		t.Errorf("got %v", err)
	}
}
