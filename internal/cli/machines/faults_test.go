package machines

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/inject"
	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/service/postgres"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/internal/testkit/servicetest"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// restarting returns a plan of a lock on a private Redis that is restarted empty.
func restarting(t *testing.T, name string) runner.Plan {
	t.Helper()
	servertest.Start(t) // skips the test without a server
	p := planOf(t, workloads.Defaults())
	d, err := impls.Match(name)
	if err != nil {
		t.Fatal(err)
	}
	o := &p.Options
	o.Clients, o.Keys, o.Groups, o.Seed, o.Duration, o.Stallers = 8, 4, 2, 7, 4*time.Second, 0
	p.Subjects, p.Servers, p.Faults = []runner.Subject{{Design: d[0]}}, nil, []string{"restart,every=500ms"}
	return p
}

// restarts returns the number of restarts in each of two histories, of clients of a private server.
func restarts(t *testing.T, folder string) (all [2]int) {
	t.Helper()
	headers := eachEvent(t, folder, func(i int, ev history.Event) {
		if ev.Op.Kind == history.Fault && ev.Op.Note == "restart" {
			all[i]++
		}
	})
	for _, h := range headers {
		if h.Server.Kind != design.Private {
			t.Errorf("a server of kind %s", h.Server.Kind)
		}
	}
	return all
}

// TestServerFaults checks that a restart of the server is on the record of each machine, counts once, and
// excuses what it does to a sound lock: two owners at once, with the loss of state, and not without it.
func TestServerFaults(t *testing.T) {
	dir := t.TempDir()
	certificate, key := filepath.Join(dir, "certificate.pem"), filepath.Join(dir, "key.pem")
	selfSigned(t, certificate, key)
	for _, c := range []struct {
		name   string
		config Config
		direct bool
	}{
		{"plain", Config{Listen: "127.0.0.1:0"}, false},
		{"TLS", Config{Listen: "127.0.0.1:0", Certificate: certificate, Key: key}, false},
		{"by NATS of the user's", Config{Listen: "127.0.0.1:0", URL: servicetest.NATS(t, server.Options{})(""), Token: "t"}, false},
		{"agents on the coordinator's machine", Config{Listen: "127.0.0.1:0"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := restarting(t, "lua-token/token")
			c.config.Private = true // the tunnel is open at once
			crew := gather(t, 2, c.config)
			if !c.direct {
				if err := crew.tunnel.socket.close(); err != nil {
					t.Error(err)
				}
				crew.tunnel.socket = nil
			}
			r := crew.run(t, p, func() {
				if n := crew.tunnel.Connections(); c.direct != (n == 0) {
					t.Errorf("%d connections go through the tunnel", n)
				}
			})
			j := &r.Runs[0]
			if j.Err != nil || j.Verdicts.Partial || j.Verdicts.Grants == 0 {
				t.Fatalf("%d grants, partial %v, error %v", j.Verdicts.Grants, j.Verdicts.Partial, j.Err)
			}
			for _, f := range j.Verdicts.Findings {
				if f.Against > 0 {
					t.Errorf("accused: %+v", f)
				}
			}
			recorded, exposed := restarts(t, p.History), j.End.Trailer.Faults
			if recorded[0] != recorded[1] || recorded[0] == 0 || len(exposed) != 1 || exposed[0].Occurrences != int64(recorded[0]) || exposed[0].MetHeld == 0 {
				t.Errorf("%v restarts on record, exposures %+v", recorded, exposed)
			}
			cells := j.Verdicts.Cells()
			if n := cells.Occasions(lockbench.Exclusion.At(lockbench.StateLoss), checker.Held, checker.Broken); n == 0 {
				t.Error("no grant met a loss of state")
			}
		})
	}
}

// TestDeafMachine checks that a machine which is not told of a fault before it is lost is torn, and that the
// copy of a torn machine's history ends at once.
func TestDeafMachine(t *testing.T) {
	o := counted(0)
	o.Duration = 2 * time.Second
	p := planOf(t, o)
	c := gather(t, 2, listening(p))
	r := c.run(t, p, func() { _ = c.machines[1].tear(errors.New("deaf")) })
	if j := &r.Runs[0]; !j.Verdicts.Partial || j.Err == nil || j.Err.Error() != "deaf" {
		t.Errorf("partial %v, error %v", j.Verdicts.Partial, j.Err)
	}
	judged, err := runner.Judge(filepath.Join(p.History, "file-excl.part-1-of-2.lbh"), nil)
	if err != nil || judged.Verdicts.Partial {
		t.Errorf("the other share: partial %v, error %v", judged.Verdicts.Partial, err)
	}

	m := c.machines[0]
	(&affected{of: c.Coordinator}).Apply(inject.Effect{}) // both runs are copied
	if m.isTorn() != nil {
		t.Errorf("a machine that has ended is torn: %v", m.isTorn())
	}
	c.mu.Lock()
	m.copied = false
	c.mu.Unlock()
	if err := m.deaf(time.Now().Add(-time.Second)); err == nil || !strings.Contains(err.Error(), "does not take the fault") {
		t.Errorf("a machine that lives and does not answer: %v", err)
	}
	c.mu.Lock()
	m.hello.ID = "nobody"
	c.mu.Unlock()
	(&affected{of: c.Coordinator}).Apply(inject.Effect{})
	if torn := m.isTorn(); torn == nil || !strings.Contains(torn.Error(), "machine 1 ") {
		t.Errorf("a machine that was not told is torn by %v", torn)
	}
}

// TestRepeatedEffect checks that an effect which arrives twice is applied once.
func TestRepeatedEffect(t *testing.T) {
	var told counter
	r := &recording{met: make(chan struct{}), clients: &told}
	close(r.met)
	for _, n := range []int{1, 1, 2, 2, 1, 3} {
		r.apply(effect{Number: n})
	}
	if told != 3 {
		t.Errorf("%d effects were applied, want 3", told)
	}
}

type counter int

func (c *counter) Apply(inject.Effect) { *c++ }

func (*counter) Holding(context.Context, time.Duration) inject.Holding { return inject.Holding{} }

// TestWayToServers checks that an agent on the coordinator's machine reaches its private servers directly, each at its
// own address, and that other agents and other servers use the tunnel.
func TestWayToServers(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there are no abstract sockets")
	}
	first, second, sql := servertest.Start(t), servertest.Start(t), servicetest.Start(t, postgres.Start)
	external, err := servers.Redis{}.Open(t.Context(), []string{"redis://" + servertest.StartNode(t).Addr}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer external[0].Close()
	for _, x := range []struct {
		name    string
		on      []design.Service
		records design.Service
		faults  []fault.Fault
		change  func(*way)
		direct  []string // parts of their addresses, in order; empty for one that the tunnel leads to
	}{
		{name: "a socket", on: []design.Service{first}, direct: []string{first.Options().Addr}},
		{name: "a port", on: []design.Service{sql}, direct: []string{sql.Endpoint()}},
		{name: "several", on: []design.Service{first, second}, direct: []string{first.Options().Addr, second.Options().Addr}},
		{name: "records elsewhere", on: []design.Service{sql}, records: second, direct: []string{sql.Endpoint(), second.Options().Addr}},
		{name: "records beside a server of the user's", on: external, records: second, direct: []string{"", second.Options().Addr}},
		{name: "a fault of the network, which needs a port", on: []design.Service{first}, faults: []fault.Fault{{Kind: fault.BlackHole}}, direct: []string{""}},
		{name: "another machine", on: []design.Service{first}, change: func(w *way) { w.Socket = "@lockbench-nowhere" }, direct: []string{""}},
		{name: "no socket", on: []design.Service{first}, change: func(w *way) { w.Socket = "" }, direct: []string{""}},
		{name: "another file system", on: []design.Service{first}, change: func(w *way) { w.There[0] = "unix:///nowhere?db=0" }, direct: []string{""}},
		{name: "no address", on: []design.Service{first}, change: func(w *way) { w.There = nil }, direct: []string{""}},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := &Coordinator{config: Config{Listen: "127.0.0.1:0", Token: "t", Say: t.Logf}}
			its := order{Design: "lua-token/token"}
			run := load.Config{Services: x.on, Records: x.records, Faults: x.faults}
			run.Design.Servers = len(x.on)
			if err := c.offer(t.Context(), &its, &run); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := c.tunnel.close(); err != nil {
					t.Error(err)
				}
			}()
			its.Way.Host = "127.0.0.1"
			if x.change != nil {
				x.change(its.Way)
			}
			a := &Agent{Token: "t"}
			reached, err := a.reach(t.Context(), its)
			if err != nil {
				t.Fatal(err)
			}
			all := slices.Clone(reached.servers)
			if reached.records != nil {
				all = append(all, reached.records.Address())
			}
			tunnelled := 0
			for i, part := range x.direct {
				if part == "" {
					tunnelled++
				} else if !strings.Contains(all[i], part) {
					t.Errorf("server %d is reached at %s, want %s", i, all[i], part)
				}
			}
			if len(reached.relays) != tunnelled || len(all) != len(x.direct) {
				t.Errorf("%d of %d servers are reached through the tunnel, want %d of %d", len(reached.relays), len(all), tunnelled, len(x.direct))
			}
			for _, address := range reached.servers {
				opened, err := backendServing(address).Open(t.Context(), []string{address}, 1)
				if err != nil {
					t.Fatalf("the address leads nowhere: %v", err)
				}
				if err := opened[0].Close(); err != nil {
					t.Error(err)
				}
			}
			if err := reached.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSecretsOfTheWay checks that a printed order has no password of its way.
func TestSecretsOfTheWay(t *testing.T) {
	o := order{Way: &way{Records: "postgres://u:secret@h/d", There: []string{"unix://u:secret@/socket?db=0", "", "mysql://u:secret@h:1/d"}}}
	if text := o.String(); strings.Contains(text, "secret") || !strings.Contains(string(o.document()), "secret") {
		t.Errorf("printed as %s", text)
	}
}

// A service is one that a tunnel leads to.
type service string

func (s service) DialServer(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", string(s))
}

func (service) URL(via string) string { return via }

// TestTunnel checks who gets through a tunnel, to which service, and that a service which is down looks so.
func TestTunnel(t *testing.T) {
	certificate, key := servertest.SelfSigned(t)
	for _, encrypted := range []bool{false, true} {
		t.Run(fmt.Sprintf("TLS %v", encrypted), func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					go func() {
						defer conn.Close()
						_, _ = io.Copy(conn, conn)
					}()
				}
			}()
			c := &Coordinator{config: Config{Listen: "127.0.0.1:0", Token: "right", Say: t.Logf}}
			to := &way{Host: "127.0.0.1", TLS: encrypted}
			a := &Agent{Token: "right"}
			if encrypted {
				c.config.Certificate, c.config.Key = certificate, key
				a.tls = tls.Config{InsecureSkipVerify: true}
			}
			if err := c.openTunnel(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.tunnel.close() }()
			_, to.Port, err = net.SplitHostPort(c.tunnel.Address())
			if err != nil {
				t.Fatal(err)
			}
			nobody, err := servers.FreePort()
			if err != nil {
				t.Fatal(err)
			}
			c.tunnel.to = []design.Addressed{service(nobody), service(listener.Addr().String())}
			for _, x := range []struct {
				token string
				i     int
				want  bool
			}{{"right", 1, true}, {"wrong", 1, false}, {"right", 0, false}, {"right", 2, false}, {"right", -1, false}} {
				a.Token = x.token
				conn, err := a.dialTo(to, x.i)(t.Context())
				if got := err == nil; got != x.want {
					t.Errorf("token %s, service %d: %v", x.token, x.i, err)
				}
				if err != nil {
					continue
				}
				said := make([]byte, 5)
				if _, err := fmt.Fprint(conn, "hello"); err != nil {
					t.Error(err)
				}
				if _, err := io.ReadFull(conn, said); err != nil || string(said) != "hello" {
					t.Errorf("it answered %q, %v", said, err)
				}
				if err := conn.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
