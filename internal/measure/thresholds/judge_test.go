package thresholds

import (
	"math"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

const ms = int64(1e6)

// measuredRun returns a run with 100 grants of 1 to 100 ms in 10 s, one refusal and one failure.
func measuredRun() *Run {
	c := measure.New(history.Header{})
	for i := range int64(100) {
		op := history.Op{Kind: history.Acquire, Outcome: history.OK, Key: "k", Hold: i + 1, Attempts: 3, Call: i * ms, Return: (2*i + 1) * ms}
		c.Add(history.Event{Phase: history.Call, Op: &op})
		c.Add(history.Event{Phase: history.Return, Op: &op})
	}
	m := c.Result(history.End{Trailer: history.Trailer{EndNS: 10_000 * ms}})
	return &Run{Design: "lua-token/token", Measures: &m, Verdicts: &checker.Result{
		Ops: 102, Grants: 100, Refused: 25, Failed: 1, WorstOverlap: 5,
		Findings: []checker.CellFinding{
			{Cell: lockbench.Exclusion.At(0), Finding: checker.Finding{Verdict: checker.Held, Exposure: 90}},
			{Cell: lockbench.Exclusion.At(lockbench.Outlived), Finding: checker.Finding{Verdict: checker.Broken, Exposure: 8, Violations: 4, Measures: map[string]float64{"overlap_p99_ns": 7e6}}},
			{Cell: lockbench.Exclusion.At(lockbench.Failover), Finding: checker.Finding{Verdict: checker.Held, Exposure: 20}},
			{Cell: lockbench.Exclusion.At(lockbench.Crash | lockbench.Failover), Finding: checker.Finding{Verdict: checker.Broken, Exposure: 3, Violations: 3, Against: 1}},
			{Cell: lockbench.OwnerRelease.At(0), Finding: checker.Finding{Verdict: checker.Broken, Exposure: 9, Violations: 2}},
			{Cell: lockbench.Recovery.At(0), Finding: checker.Finding{Verdict: checker.Untested, Note: "nobody died"}},
			{Cell: lockbench.Recovery.At(lockbench.Crash), Finding: checker.Finding{Verdict: checker.Held, Exposure: 7}},
			{Cell: lockbench.Fencing.At(0), Finding: checker.Finding{Verdict: checker.NotApplicable, Note: "no fence was handed out"}},
			{Cell: lockbench.Effects.At(0), Finding: checker.Finding{Verdict: checker.Held, Exposure: 3}},
		},
		Breaches: 5, Fairness: checker.Fairness{Jain: 0.9, MaxWait: 40, MaxBypassed: 3},
	}}
}

func TestJudge(t *testing.T) {
	for text, want := range map[string]Outcome{
		"acquire.max>99ms":                              Failed,
		"acquire.max>101ms":                             Passed,
		"acquire.p50>49ms":                              Failed,
		"acquire.p50>51ms":                              Passed,
		"acquire.p97.5>99ms":                            Passed,
		"acquire.mean>51ms":                             Passed,
		"service.max>99ms":                              Failed,       // acquires had no intended start
		"lag.max>1ns":                                   Inconclusive, // nothing was due
		"acquire.mean>50ms":                             Failed,
		"grants<101":                                    Failed,
		"grants_per_s<10":                               Passed,
		"grants_per_s<10.01":                            Failed,
		"attempts_per_grant>=3":                         Failed,
		"refused.share>=20%":                            Failed,
		"refused.share>20%":                             Passed,
		"failed.count>0":                                Failed,
		"failed.share>1%":                               Passed,
		"violations>8":                                  Failed,
		"violations>9":                                  Passed,
		"against>0":                                     Failed,
		"against>1":                                     Passed,
		"breaches>=5":                                   Failed,
		"breaches>5":                                    Passed,
		"fairness.jain<0.95":                            Failed,
		"fairness.max_wait>40ns":                        Passed,
		"fairness.max_bypassed>2":                       Failed,
		"exclusion.violations>0":                        Passed,
		"exclusion.exposure<100":                        Failed,
		"owner-release.violations>1":                    Failed,
		"exclusion@outlived.violations>3":               Failed,
		"exclusion@outlived.overlap_p99>6ms":            Failed,
		"exclusion@failover.violations>2":               Failed, // with any other conditions
		"exclusion@failover.exposure<24":                Failed,
		"exclusion@failover.against>1":                  Passed,
		"exclusion@failover+crash.exposure>3":           Passed,
		"exclusion@skew.violations>0":                   Inconclusive,
		"fencing@crash.violations>0":                    NotApplicable,
		"recovery@crash.violations>0":                   Passed,
		"redsync/*: exclusion@crash+failover.against>0": Failed,
		"worst_overlap>=5ns":                            Failed,
		"lost_updates>0":                                Passed,
		"release.p99>1ms":                               Inconclusive, // none was measured
		"commands_per_grant>3":                          Inconclusive, // not told
		"recovery.violations>0":                         Inconclusive, // untested
		"loss-reported@outlived.delay_max>1ms":          Inconclusive, // no such finding
		"fencing.violations>0":                          NotApplicable,
		"fencing.exposure<1":                            NotApplicable,
		"lua-token/*: acquire.max>99ms":                 Failed,
	} {
		t.Run(text, func(t *testing.T) {
			th, err := ParseThreshold(text)
			if err != nil {
				t.Fatal(err)
			}
			got, reading := th.Judge(measuredRun())
			if got != want {
				t.Errorf("got %v (%+v), want %v", got, reading, want)
			}
			if (got == Passed || got == Failed) != (reading.Why == "") {
				t.Errorf("%v with the reason %q", got, reading.Why)
			}
		})
	}
}

// TestNothingNeverPasses checks, for every metric and relation, that no threshold passes in a run
// without operations.
func TestNothingNeverPasses(t *testing.T) {
	empty := &Run{Measures: &measure.Measures{}, Verdicts: &checker.Result{}}
	for _, m := range Metrics() {
		for _, r := range relations {
			th := Threshold{Comparison: Comparison{Metric: m, Relation: r, Bound: math.MaxFloat64}}
			if got, reading := th.Judge(empty); got == Passed && !counted(m) {
				t.Errorf("%s: passed with %+v", th, reading)
			}
		}
	}
}

// TestViolationsOfNothing checks that no threshold on violations passes if no guarantee was tested.
func TestViolationsOfNothing(t *testing.T) {
	r := measuredRun()
	r.Verdicts.Findings = []checker.CellFinding{{Cell: lockbench.Exclusion.At(0)}, {Cell: lockbench.Fencing.At(0), Finding: checker.Finding{Verdict: checker.NotApplicable}}}
	th, err := ParseThreshold("violations>0")
	if err != nil {
		t.Fatal(err)
	}
	if got, reading := th.Judge(r); got != Inconclusive {
		t.Errorf("got %v (%+v), want inconclusive", got, reading)
	}
}

// TestArrivals checks the metrics of arrivals, which have no value in a closed loop.
func TestArrivals(t *testing.T) {
	open := &Run{Verdicts: &checker.Result{Ops: 9}, Measures: &measure.Measures{Arrivals: &measure.Arrivals{
		Arrivals:         runinfo.Arrivals{Due: 200, Started: 180, Waiting: 20, Overslept: 9},
		OfferedPerSecond: 100, StartedPerSecond: 90, AnsweredPerSecond: 80,
	}}}
	for text, want := range map[string]Outcome{
		"due.count<200": Passed, "due.count<201": Failed,
		"started.count<180": Passed, "started.count<181": Failed,
		"waiting.count>20": Passed, "waiting.count>19": Failed,
		"overslept.share>5%": Passed, "overslept.share>4.9%": Failed,
		"offered_per_s<100": Passed, "offered_per_s<101/s": Failed,
		"started_per_s<90": Passed, "started_per_s<91": Failed,
		"answered_per_s<80": Passed, "answered_per_s<81": Failed,
	} {
		th, err := ParseThreshold(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, reading := th.Judge(open); got != want {
			t.Errorf("%s: got %v (%+v), want %v", text, got, reading, want)
		}
		if got, reading := th.Judge(measuredRun()); got != Inconclusive || reading.Why == "" {
			t.Errorf("%s in a closed loop: got %v (%+v), want inconclusive", text, got, reading)
		}
	}
}

// counted reports whether a zero of m is a value. A run without grants is inconclusive for that
// reason alone.
func counted(m Metric) bool { return m.Name == "grants" || m.Name == "ops" }

func TestOutOfRangeIsNoValue(t *testing.T) {
	c := measure.New(history.Header{})
	for i, took := range []int64{5, 7 * 3600 * 1000 * ms} {
		op := history.Op{Kind: history.Acquire, Outcome: history.OK, Key: "k", Hold: int64(i + 1), Return: took}
		c.Add(history.Event{Phase: history.Return, Op: &op})
	}
	m := c.Result(history.End{})
	th, err := ParseThreshold("acquire.max>1h")
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := th.Judge(&Run{Measures: &m, Verdicts: &checker.Result{Ops: 2}}); got != Inconclusive {
		t.Errorf("the longest is missing from the histogram: got %v, want inconclusive", got)
	}
}

func TestFor(t *testing.T) {
	for _, c := range []struct {
		scope, design string
		want          bool
	}{
		{"", "lua-token/token", true}, {"lua-token/*", "lua-token/token", true},
		{"lua-token/token", "lua-token/token", true}, {"*/poll", "lua-token/token", false}, {"lua-token", "lua-token/token", false},
	} {
		if got := (Threshold{Scope: c.scope}).For(c.design); got != c.want {
			t.Errorf("%q for %s: got %v, want %v", c.scope, c.design, got, c.want)
		}
	}
}

func TestTogether(t *testing.T) {
	for _, c := range []struct {
		name string
		all  []Outcome
		want Outcome
	}{
		{"none", nil, Inconclusive},
		{"none that it applies to", []Outcome{NotApplicable, NotApplicable}, Inconclusive},
		{"one of two", []Outcome{NotApplicable, Passed}, Passed},
		{"an open one", []Outcome{Passed, Inconclusive, Passed}, Inconclusive},
		{"a failed one", []Outcome{Inconclusive, Passed, Failed, NotApplicable}, Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Together(c.all...); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestServiceIsItsOwn checks that the service time differs from the latency of acquires if these
// were due before they were called.
func TestServiceIsItsOwn(t *testing.T) {
	c := measure.New(history.Header{})
	op := history.Op{Kind: history.Acquire, Outcome: history.OK, Key: "k", Hold: 1, Intended: 10 * ms, Call: 50 * ms, Return: 51 * ms}
	c.Add(history.Event{Phase: history.Call, Op: &op})
	c.Add(history.Event{Phase: history.Return, Op: &op})
	m := c.Result(history.End{})
	r := &Run{Measures: &m, Verdicts: &checker.Result{Ops: 1}}
	for text, want := range map[string]Outcome{"acquire.max>40ms": Failed, "service.max>2ms": Passed, "lag.max>39ms": Failed} {
		th, err := ParseThreshold(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, reading := th.Judge(r); got != want {
			t.Errorf("%s: got %v (%+v), want %v", text, got, reading, want)
		}
	}
}
