package machines

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/lib/buildinfo"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/workloads"
)

func bytesEqual(t *testing.T, a, b string) bool {
	t.Helper()
	one, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(one, other)
}

// TestOrders checks that an agent makes of an order the run that it was made of, for each design, control,
// broken lock, workload and fault, and that its printed form has no password.
func TestOrders(t *testing.T) {
	designs := append(impls.All(), impls.Controls()...)
	designs = append(designs, mutants.SelfCheck("bare"), mutants.SelfCheck("plain-del"))
	postgres, err := impls.Match("postgres/*")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := impls.Controls()[0]
	elsewhere.Backend = postgres[0].Backend
	var faults []fault.Fault
	for _, k := range fault.Kinds() {
		f, err := fault.Usual(k)
		if err != nil {
			t.Fatal(err)
		}
		faults = append(faults, f)
	}
	all := workloads.By(workloads.Live)
	for i, d := range append(designs, elsewhere) {
		w := all[i%len(all)]
		o, err := w.Options(workloads.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		run := load.Config{Design: d, Workload: w, Options: o, Prefix: servers.NewPrefix(), Faults: faults}
		its := newOrder(&run, []string{"redis://u:secret@h:1", "postgres://h/d?password=secret"})
		its.Run, its.Share = 1, runinfo.Share{Index: 1, Of: 2}
		if text := its.String(); strings.Contains(text, "secret") || strings.Contains(text, "redis://") != servers.BackendOf(&d).Serves("redis://h") {
			t.Errorf("%s: printed as %s", d.Name, text)
		}
		var got order
		if err := json.Unmarshal(its.document(), &got); err != nil {
			t.Fatal(err)
		}
		if got.digest() != its.digest() {
			t.Errorf("%s: it is understood as %s, want %s", d.Name, got, its)
		}
		c, err := got.config()
		if err != nil {
			t.Errorf("%s: %v", d.Name, err)
			continue
		}
		if c.Design.Name != d.Name || servers.BackendOf(&c.Design).Name() != servers.BackendOf(&d).Name() || c.Workload.Name != w.Name || c.Prefix != run.Prefix {
			t.Errorf("%s on %s: the agent runs %s on %s", d.Name, servers.BackendOf(&d).Name(), c.Design.Name, servers.BackendOf(&c.Design).Name())
		}
		if diff := cmp.Diff(c.Faults, faults); diff != "" {
			t.Errorf("%s: faults (-agent +run):\n%s", d.Name, diff)
		}
		again := newOrder(&c, its.Servers)
		again.Run, again.Share = its.Run, its.Share
		if again.digest() != its.digest() {
			t.Errorf("%s: the run of the agent would be ordered as %s, want %s", d.Name, again, its)
		}
	}
}

// TestUnknownOrders checks that an agent refuses orders that its lockbench does not know.
func TestUnknownOrders(t *testing.T) {
	for _, o := range []order{
		{Design: "x/y"}, {Design: "self-check/x"}, {Design: "lua-token/token", Workload: "x"},
		{Design: "lua-token/token", Workload: "oversell", Faults: []string{"x"}},
		{Design: impls.Controls()[0].Name, Backend: "x", Workload: "oversell"},
		{Design: "lua-token/token", Workload: "oversell", Prefix: "lockbench:"},
	} {
		o.Version = buildinfo.Version()
		if _, err := o.config(); err == nil || strings.Contains(err.Error(), "the order is of lockbench") {
			t.Errorf("%v: %v", o, err)
		}
	}
	if _, err := (order{Design: "lua-token/token", Workload: "oversell", Version: "v0.0.1"}).config(); err == nil || !strings.Contains(err.Error(), "the order is of lockbench v0.0.1") {
		t.Errorf("an order of another version: %v", err)
	}
}

// TestDifference checks that the bounds of a probe have the true difference of the clocks within them,
// whatever the delays on both ways, and that no narrower ones would.
func TestDifference(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		difference := random.Int64N(2e12) - 1e12
		sent, there, back := random.Int64N(1e9), random.Int64N(1e6), random.Int64N(1e6)
		p := probe{sent: sent, at: sent + there + difference, received: sent + there + back}
		least, largest := p.bounds()
		if least > difference || largest < difference || largest-least != p.width() || p.width() != there+back {
			t.Fatalf("%+v: bounds %d to %d, want %d within", p, least, largest, difference)
		}
		if there == 0 && largest != difference || back == 0 && least != difference {
			t.Fatalf("%+v: bounds %d to %d are too wide for %d", p, least, largest, difference)
		}
	}
}

// TestComparison checks that the narrowest of the last probes counts, and that an instant of the
// coordinator's clock is found on the agent's.
func TestComparison(t *testing.T) {
	c := newComparison()
	if _, _, known := c.difference(); known {
		t.Error("a difference is known without a probe")
	}
	c.probes = []probe{{sent: 0, at: 5_000, received: 1_000}, {sent: 2_000, at: 6_100, received: 2_200}, {sent: 3_000, at: 8_000, received: 4_000}}
	middle, width, _ := c.difference()
	if middle != 4_000 || width != 200 {
		t.Errorf("difference %d, width %d; want 4000, 200", middle, width)
	}
	if at := c.local(10_000).Sub(c.began); at != 6_000 {
		t.Errorf("10 us on the coordinator's clock are %v on the agent's, want 6us", at)
	}
	for range 2 * keptProbes {
		c.add(c.now(), instant{})
	}
	if len(c.probes) != keptProbes {
		t.Errorf("%d probes are kept, want %d", len(c.probes), keptProbes)
	}
}

// TestServed checks that the result of an earlier run, asked for late, is not taken for that of the last one.
func TestServed(t *testing.T) {
	a := new(Agent)
	a.served(question{Run: 1})
	a.run = &recording{order: order{Run: 2}}
	if a.served(question{Run: 1}); a.run.served.Load() {
		t.Error("run 2 is served by the result of run 1")
	}
	if a.served(question{Run: 2}); !a.run.served.Load() {
		t.Error("run 2 is not served by its result")
	}
}
