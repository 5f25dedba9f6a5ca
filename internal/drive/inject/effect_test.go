package inject

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
)

// A stage notes what happens to a server and to its clients, in order.
type stage struct {
	happened []string
	holding  []Holding // the answers, in turn; the last one stays
}

func (s *stage) notes(format string, args ...any) {
	s.happened = append(s.happened, fmt.Sprintf(format, args...))
}

func (s *stage) Apply(e Effect) { s.notes("%s %s%d", e.Kind, e.Note, e.Fault) }

func (s *stage) Holding(context.Context, time.Duration) Holding {
	now := s.holding[0]
	s.holding = s.holding[min(1, len(s.holding)-1):]
	return now
}

// A stagedServer restarts and stands still on a stage.
type stagedServer struct {
	design.Service
	*stage
}

func (stagedServer) Durable()                {}
func (stagedServer) Prolongs() time.Duration { return time.Second }

func (s stagedServer) Restart(_ context.Context, between func()) error {
	s.notes("killed")
	between()
	s.notes("started")
	return nil
}

func (s stagedServer) Suspend() error { s.notes("suspended"); return nil }
func (s stagedServer) Resume() error  { s.notes("resumed"); return nil }

// TestEffectsOnOthers checks, for clients on other machines, that each effect is applied between the same two
// steps of the server as for clients of the process.
func TestEffectsOnOthers(t *testing.T) {
	for _, c := range []struct {
		kind fault.Kind
		want string
	}{
		{fault.Restart, "occurs 1, goes away 0, hangs up 0, killed, records restart0, started, returns 0"},
		{fault.RestartAOF, "occurs 1, goes away 0, killed, records restart-aof0, records leases-prolonged0, started, records leases-prolonged0, returns 0"},
		{fault.ServerPause, "occurs 1, goes away 0, suspended, records server-pause0, resumed, records server-resume0, returns 0"},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stage{}
				f, err := fault.Usual(c.kind)
				if err != nil {
					t.Fatal(err)
				}
				config := Config{Faults: []fault.Fault{{Kind: fault.Crash}, f}, Services: []design.Service{stagedServer{stage: s}}, Lease: time.Second, Clients: s}
				in := &Injector{config: config, lasting: t.Context()}
				for _, f := range config.Faults {
					in.plans = append(in.plans, &plan{Fault: f.Filled(time.Second, 0), row: fault.Of(f.Kind), how: injections[f.Kind]})
				}
				own := in.own()
				if len(own) != 1 || own[0].Kind != c.kind {
					t.Fatalf("it injects %d faults", len(own))
				}
				in.injectOnServer(t.Context(), own[0])
				if got := strings.Join(s.happened, ", "); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
				if len(in.errs) > 0 {
					t.Error(in.errs)
				}
			})
		})
	}
}

// TestProlongedJustNow checks that leases are on record as prolonged shortly before a server starts, also if a
// machine that is lost takes seconds to be given up.
func TestProlongedJustNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{}
		in := &Injector{config: Config{Clients: &slowOnce{stage: s, takes: 5 * time.Second}}}
		began := time.Now()
		in.prolongedJustNow(stagedServer{stage: s})
		if got := strings.Join(s.happened, ", "); got != "records leases-prolonged0, records leases-prolonged0" || time.Since(began) != 5*time.Second {
			t.Errorf("%s in %v", got, time.Since(began))
		}
	})
}

// slowOnce takes long for its first effect.
type slowOnce struct {
	*stage
	takes time.Duration
}

func (s *slowOnce) Apply(e Effect) {
	s.stage.Apply(e)
	time.Sleep(s.takes)
	s.takes = 0
}

// TestRemoteClients checks that the injector of clients records, counts and remembers what it is told of
// a server's fault, and injects none itself.
func TestRemoteClients(t *testing.T) {
	f, err := fault.Usual(fault.Restart)
	if err != nil {
		t.Fatal(err)
	}
	in, err := New(Config{Faults: []fault.Fault{f}, Services: []design.Service{usersServer{}}, Lease: time.Second, Remote: true})
	if err != nil {
		t.Fatal(err) // the fault would harm a server of the user's, but is not this injector's
	}
	tape := history.NewTape(history.Header{})
	in.serverRecord = tape.Client(-1, -1)
	if len(in.own()) > 0 {
		t.Error("it injects the fault of the server")
	}
	in.Apply(Effect{Kind: Occurs})
	in.held.Store(1)
	in.Apply(Effect{Kind: Occurs})
	in.Apply(Effect{Kind: GoesAway})
	if !in.Away() {
		t.Error("the server is not away")
	}
	in.Apply(Effect{Kind: Recorded, Note: "restart", Value: 3})
	in.Apply(Effect{Kind: Returns})
	if in.Away() {
		t.Error("the server is still away")
	}
	if e := in.Exposures()[0]; e.Occurrences != 2 || e.MetHeld != 1 {
		t.Errorf("%+v", e)
	}
	if events := tape.Tail(0, nil); len(events) != 1 || events[0].Op.Note != "restart" || events[0].Op.Value != 3 {
		t.Errorf("recorded %v", events)
	}
}

type usersServer struct{ design.Service }

func (usersServer) Kind() string    { return design.External }
func (usersServer) Version() string { return "redis of the user's" }

// TestHolding checks that a question is answered at the next grant, or after its wait.
func TestHolding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &Injector{}
		began := time.Now()
		time.AfterFunc(time.Second, in.granted.tell)
		if now := in.Holding(t.Context(), time.Minute); !now.Granted || now.Held || time.Since(began) != time.Second {
			t.Errorf("%+v after %v", now, time.Since(began))
		}
		in.held.Store(1)
		if now := in.Holding(t.Context(), time.Second); now.Granted || !now.Held || time.Since(began) != 2*time.Second {
			t.Errorf("%+v after %v", now, time.Since(began))
		}
	})
}

// TestAwaitLossOnOthers checks that a failover waits for a grant that the replica does not have.
func TestAwaitLossOnOthers(t *testing.T) {
	s := &stage{holding: []Holding{{}, {Granted: true, Held: true}, {Granted: true, Held: true, Unreplicated: true}}}
	in := &Injector{config: Config{Clients: s}, lasting: t.Context()}
	in.replica = behind{}
	if !in.awaitLoss(t.Context(), &plan{Fault: fault.Fault{Kind: fault.Failover, While: fault.Held}}) {
		t.Error("no loss was seen")
	}
	if !slices.Equal(s.holding, []Holding{{Granted: true, Held: true, Unreplicated: true}}) {
		t.Errorf("it did not wait: %v", s.holding)
	}
}

type behind struct{ design.Replica }

func (behind) Behind(context.Context) (int64, error) { return 1, nil }
