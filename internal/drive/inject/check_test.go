package inject

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/service/etcd"
	"github.com/lockbench/lockbench/internal/service/nats"
	"github.com/lockbench/lockbench/internal/service/postgres"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/service/zookeeper"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// TestEveryFaultIsInjected: each live fault of the table has the code that its target needs.
func TestEveryFaultIsInjected(t *testing.T) {
	for _, row := range fault.Rows() {
		how, is := injections[row.Kind]
		if row.Live == nil {
			if is {
				t.Errorf("%s is injected, and its row has no Live", row.Kind)
			}
			continue
		}
		missing := map[fault.Target]bool{
			fault.Client:  how.at == 0 || how.at&atCommand != 0 && how.command == nil,
			fault.Process: how.begin == nil,
			fault.Server:  how.occur == nil,
			fault.Network: how.occur == nil || how.network == nil,
		}
		if missing[row.Target] {
			t.Errorf("%s, of the %s, is not injected; hint: an entry in injections (injections.go)", row.Kind, row.Target)
		}
	}
	for kind := range injections {
		if fault.Of(kind) == nil {
			t.Errorf("%s is injected and has no row", kind)
		}
	}
}

func TestCheck(t *testing.T) {
	private := servertest.Start(t)
	embedded, err := servers.StartEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = embedded.Close() })
	external, err := servers.Connect(t.Context(), private.Address())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fault string
		on    design.Service
		want  string
	}{
		{"crash", external, ""},
		{"lost-reply", external, ""},
		{"script-flush", external, "would harm a server that lockbench did not start; hint: leave --server out"},
		{"server-pause", external, "would harm"},
		{"restart", external, "would harm"},
		{"restart-aof", external, "would harm"},
		{"failover", external, "would harm"},
		{"down", external, "would harm"},
		{"client-kill", external, "would harm"},
		{"evict", external, "would harm"},
		{"clock-step", external, "would harm"},
		{"clock-step", embedded, "needs a server process"},
		{"slow", external, "needs a server reached by TCP"},
		{"script-flush", embedded, ""},
		{"restart", embedded, "needs a server process"},
		{"black-hole", embedded, "needs a server reached by TCP"},
		{"restart", private, ""},
		{"restart-aof", private, ""},
		{"restart", nats.Backend{}.Offers(), "keeps all; hint: restart-aof"},
		{"restart-aof", nats.Backend{}.Offers(), ""},
		{"restart", etcd.Backend{}.Offers(), "keeps all; hint: restart-aof"},
		{"restart-aof", zookeeper.Backend{}.Offers(), ""},
		{"restart", postgres.Backend{}.Offers(), ""},
		{"restart-aof", postgres.Backend{}.Offers(), "needs a server that keeps all through a restart, which PostgreSQL does not"},
		{"slow", private, ""},
		{"down,n=2", private, "affects 2 servers, there are 1"},
		{"server-pause,for=10s", private, "longer than clients wait"},
		{"crash,p=0", private, "would never occur"},
	} {
		t.Run(fmt.Sprintf("%s on %s %s", c.fault, c.on.Kind(), c.on.Version()), func(t *testing.T) {
			f, err := fault.Parse(c.fault)
			if err != nil {
				t.Fatal(err)
			}
			err = Check([]fault.Fault{f}, []design.Service{c.on})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// prolonging is a server whose restart prolongs leases.
type prolonging struct {
	design.Prolonger
	design.Service
}

func (prolonging) Prolongs() time.Duration { return time.Minute }

func (prolonging) Restart(_ context.Context, between func()) error {
	between()
	return nil
}

// electing is a server that elects a leader before each look.
type electing struct {
	design.Elector
	design.Service
	terms *atomic.Uint64
}

func (electing) Prolongs() time.Duration                { return 0 }
func (e electing) Term(context.Context) (uint64, error) { return e.terms.Add(1), nil }

// TestElectionsAreSeen checks that elections without a fault are on record as prolonged leases.
func TestElectionsAreSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tape := history.NewTape(history.Header{})
		ctx, stop := context.WithCancel(t.Context())
		in := &Injector{config: Config{Services: []design.Service{electing{terms: new(atomic.Uint64)}}}}
		in.serverRecord, in.lasting = tape.Client(-1, -1), ctx
		if err := in.watchElections(ctx, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3*electionInterval + electionInterval/2)
		stop()
		in.work.Wait()
		if n := len(tape.Tail(0, nil)); n != 3 {
			t.Errorf("%d events, want one for each of 3 elections", n)
		}
	})
}

// TestLeasesProlonged checks that leases that a restart prolongs are on record before and after it.
func TestLeasesProlonged(t *testing.T) {
	tape := history.NewTape(history.Header{})
	in := &Injector{config: Config{Services: []design.Service{prolonging{}}}}
	in.serverRecord = tape.Client(-1, -1)
	if err := in.restartFromAOF(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	var notes []string
	for _, e := range tape.Tail(0, nil) {
		if e.Op.Kind == history.Fault {
			notes = append(notes, fmt.Sprint(e.Op.Note, " ", time.Duration(e.Op.Value)))
		}
	}
	if got, want := strings.Join(notes, ", "), "restart-aof 0s, leases-prolonged 1m0s, leases-prolonged 1m0s"; got != want {
		t.Errorf("recorded %s, want %s", got, want)
	}
}
