package servicetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// A Private is a private server with all abilities of one.
type Private interface {
	design.Service
	design.Mortal
	design.Neighbour
	design.Prompt
	design.Keeper
	design.Listed
	design.Restarter
	design.Suspender
}

// Start starts a private server, which ends with t. It skips t if the program is missing, see
// [servertest.Need].
func Start[S Private](t *testing.T, start func(context.Context) (S, error)) S {
	t.Helper()
	s, err := start(t.Context())
	servertest.Need(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Run tests the private servers that start starts. Their versions begin with product. The function end
// ends the process of one as another program would, see [Kill].
func Run[S Private](t *testing.T, start func(context.Context) (S, error), product string, end func(S) error) {
	t.Run("it leaves nothing", func(t *testing.T) { leavesNothing(t, start, product) })
	t.Run("records", func(t *testing.T) {
		s := Start(t, start)
		Records(t, func() design.Records { return s.Records("test:") })
	})
	t.Run("a restart keeps records, and a sweep those of others", func(t *testing.T) { keeps(t, Start(t, start)) })
	t.Run("what runs left is removed, and nothing else", func(t *testing.T) { cleans(t, Start(t, start)) })
	t.Run("it stands still", func(t *testing.T) { standsStill(t, Start(t, start)) })
	t.Run("its end is told", func(t *testing.T) {
		s := Start(t, start)
		if err := errors.Join(s.Err(), end(s)); err != nil {
			t.Fatal(err)
		}
		<-s.Done()
		if s.Err() == nil {
			t.Error("no reason")
		}
	})
}

// Kill kills the process of a server.
func Kill[S interface{ PID() int }](s S) error {
	process, err := os.FindProcess(s.PID())
	if err != nil {
		return err
	}
	return process.Kill()
}

// leavesNothing checks that a server answers, and that its folder is gone after Close.
func leavesNothing[S Private](t *testing.T, start func(context.Context) (S, error), product string) {
	temp := servertest.OpenDir(t)
	t.Setenv("TMPDIR", temp)
	s, err := start(t.Context())
	servertest.Need(t, err)
	if err := errors.Join(s.Ping(t.Context()), s.Check(t.Context(), nil), s.Err()); err != nil {
		t.Error(err)
	}
	if s.Kind() != design.Private || !s.Local() || !strings.HasPrefix(s.Version(), product) {
		t.Errorf("%s server, local %t, version %q", s.Kind(), s.Local(), s.Version())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(temp, "*lockbench*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if err := s.Ping(t.Context()); err == nil {
		t.Error("it answers after its end")
	}
}

// keeps checks that a restart, which is a kill, keeps records, and that a sweep removes those of its
// prefix alone.
func keeps(t *testing.T, s Private) {
	want := lockbench.Record{Value: 12, Version: 3}
	for _, prefix := range []string{"lockbench:1:", "lockbench:1:more:", "lockbench:2:"} {
		records := s.Records(prefix)
		if err := errors.Join(records.Write(t.Context(), "k", want), records.Close()); err != nil {
			t.Fatal(err)
		}
	}
	ended := false
	if err := s.Restart(t.Context(), func() { ended = s.Ping(t.Context()) != nil }); err != nil {
		t.Fatal(err)
	}
	if !ended {
		t.Error("it answers after it was killed")
	}
	for _, removed := range []int{2, 0} {
		if n, err := s.Sweep(t.Context(), "lockbench:1:"); n != removed || err != nil {
			t.Errorf("swept %d, error %v, want %d", n, err, removed)
		}
	}
	records := s.Records("lockbench:2:")
	defer records.Close()
	if got, err := records.Read(t.Context(), "k"); got != want || err != nil {
		t.Errorf("got %v, error %v, want %v", got, err, want)
	}
}

// standsStill checks that a server that is suspended answers when it goes on, and not before.
func standsStill(t *testing.T, s Private) {
	ask, end := s.Ask()
	defer end()
	if err := ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Suspend(); err != nil {
		t.Skip(err)
	}
	const enough = 50 * time.Millisecond // for a server that does not stand still
	waiting, cancel := context.WithTimeout(t.Context(), enough)
	defer cancel()
	if ask(waiting) == nil {
		t.Error("it answers while it is suspended")
	}
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := ask(t.Context()); err != nil {
		t.Errorf("when it goes on: %v", err)
	}
}

// cleans checks that records of runs are removed when they are old enough, and
// others never.
func cleans(t *testing.T, s Private) {
	record := lockbench.Record{Value: 12, Version: 3}
	write := func(prefix string, record lockbench.Record) {
		t.Helper()
		records := s.Records(prefix)
		if err := errors.Join(records.Write(t.Context(), "k", record), records.Close()); err != nil {
			t.Fatal(err)
		}
	}
	const run, younger = "lockbench:0123abcd:", "lockbench:0123abce:"
	foreign := []string{"lockbench:1:", "lockbench:0123abcde:", "lockbench:0123abcX:", "other:" + run, "xlockbench:0123abcd:"}
	for _, prefix := range append(foreign, run) {
		write(prefix, record)
	}
	runs := func() []design.RunEntries {
		t.Helper()
		found, err := s.Runs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	awaitAge(t, run, runs)
	for i, prefix := range []string{run, younger} { // the first has an entry, which is written again
		from := time.Now()
		write(prefix, lockbench.Record{Value: 13, Version: 4})
		if got := runs(); got[i].Note == "" && got[i].Idle > time.Since(from)+time.Second {
			t.Errorf("%s was written %v ago: %+v", prefix, time.Since(from), got)
		}
	}
	for _, idle := range []time.Duration{time.Hour, 0} {
		found, err := backend.Clean(t.Context(), s, idle)
		if want := idle == 0; err != nil || len(found) != 2 || found[0].Prefix != run || found[0].Removed != want || found[1].Removed != want {
			t.Errorf("idle %v: %v, error %v; want both runs, removed %t", idle, found, err, want)
		}
	}
	if left := runs(); len(left) != 0 {
		t.Errorf("left are %+v", left)
	}
	for _, prefix := range foreign {
		records := s.Records(prefix)
		if got, err := records.Read(t.Context(), "k"); err != nil || got != record {
			t.Errorf("%s has %+v, error %v; want %+v", prefix, got, err, record)
		}
		if err := records.Close(); err != nil {
			t.Error(err)
		}
	}
}

// awaitAge returns when the only run, whose entry nobody uses, is old by the clock of the service.
func awaitAge(t *testing.T, run string, runs func() []design.RunEntries) {
	t.Helper()
	const old = 3 * time.Second
	for first := runs()[0]; first.Note == "" && first.Idle < old; first = runs()[0] {
		if first.Prefix != run || first.Entries != 1 {
			t.Fatalf("got %+v", first)
		}
		time.Sleep(old / 10)
	}
}
