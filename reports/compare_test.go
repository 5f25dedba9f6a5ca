package reports

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/results"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/perf/benchfmt"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
)

// A repeated makes results with one run each of a design, in which everything is slower by a
// factor, with the noise of a loaded machine. The seed determines the noise.
type repeated struct {
	design string
	runs   int
	slower float64
	seed   uint64
	// change makes further changes to the i-th run.
	change func(i int, r *results.Result)
}

func (s repeated) results() (all []results.Result) {
	random := rand.New(rand.NewPCG(s.seed, 11))
	h := header(s.design, "private")
	template := results.New([]results.Judged{judged(h, 10, held(exclusive, 90), held(stale, 9))}, nil)
	for i := range s.runs {
		r := template
		r.Runs = slices.Clone(template.Runs)
		run := &r.Runs[0]
		run.Params, run.Latency, run.Cells.Cells = maps.Clone(run.Params), maps.Clone(run.Latency), maps.Clone(run.Cells.Cells)
		run.Started = time.Date(2026, 11, 2, 10, i, int(s.seed), 0, time.UTC).Format(time.RFC3339Nano)
		s.measure(run, random)
		if s.change != nil {
			s.change(i, &r)
		}
		all = append(all, r)
	}
	return all
}

// measure sets the figures of a run at random.
func (s repeated) measure(run *results.Run, random *rand.Rand) {
	whole := 0.05 * random.NormFloat64()
	draw := func(v float64) float64 { return v * s.slower * math.Exp(whole+0.05*random.NormFloat64()) }
	run.GrantsPerS, run.Attempts, run.Commands = 5e3/draw(1), 1.5, 2
	for _, name := range slices.Sorted(maps.Keys(run.Latency)) {
		if l := run.Latency[name]; l.Count > 0 {
			l.P50, l.P99, l.Max = int64(draw(80e3)), int64(draw(9e6)), int64(draw(250e6))
			run.Latency[name] = l
		}
	}
}

// exposed returns a change after which exclusion holds on n occasions of each run.
func exposed(n int64, claimed bool) func(int, *results.Result) {
	return func(_ int, r *results.Result) {
		f := r.Runs[0].Cells.At(exclusive)
		f.Exposure, f.Claimed = n, claimed
		r.Runs[0].Cells.Set(exclusive, f)
	}
}

// breaks returns a change after which the given runs break a cell.
func breaks(cell lockbench.Cell, claimed bool, runs ...int) func(int, *results.Result) {
	return func(i int, r *results.Result) {
		if slices.Contains(runs, i) {
			f := broken(cell, claimed, 2, 2)
			found := found(f)
			found.Counterexample = &checker.Counterexample{}
			r.Runs[0].Cells.Set(cell, found)
		}
	}
}

func param(name string, value any) func(int, *results.Result) {
	return func(_ int, r *results.Result) { r.Runs[0].Params[name] = value }
}

const strategy = "lua-token/strategy"

func compareSides(t *testing.T, base, changed repeated, opt results.CompareOptions) results.Comparison {
	t.Helper()
	c, err := results.Compare(base.results(), changed.results(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func metricOf(t *testing.T, c results.Comparison, name string) results.MetricChange {
	t.Helper()
	for _, m := range c.Designs[0].Metrics {
		if m.Metric == name {
			return m
		}
	}
	t.Fatalf("no metric %s", name)
	return results.MetricChange{}
}

// TestCompareItself checks that nineteen of twenty comparisons of a design with itself show no
// difference at all, and that a slowdown by a fifth is always found.
func TestCompareItself(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds, in one goroutine")
	}
	const tables = 100
	shown, seen := 0, 0
	for i := range uint64(tables) {
		base := repeated{design: strategy, runs: 8, slower: 1, seed: 2 * i}
		c := compareSides(t, base, repeated{design: strategy, runs: 8, slower: 1, seed: 2*i + 1}, results.CompareOptions{})
		if tally(&c) != "no difference in speed seen" {
			shown++
		}
		if c.Exit != results.Passed {
			t.Fatalf("with itself: exit %d, want 0; open: %q", c.Exit, c.Open)
		}
		if i%5 == 0 {
			slow := compareSides(t, base, repeated{design: strategy, runs: 10, slower: 1.25, seed: 2*i + 1}, results.CompareOptions{})
			if metricOf(t, slow, "grants_per_s").Change == results.MetricWorse {
				seen++
			}
		}
	}
	if shown > tables/20 {
		t.Errorf("%d of %d comparisons of equals show a difference, want %d at most", shown, tables, tables/20)
	}
	if seen < tables/5-1 {
		t.Errorf("a fifth slower is seen in %d of %d comparisons", seen, tables/5)
	}
}

// TestUnseen checks that a comparison without a difference states the largest difference that could
// go unseen, and that this is smaller with ten times as many runs.
func TestUnseen(t *testing.T) {
	few := compareSides(t, repeated{design: strategy, runs: 8, slower: 1, seed: 4}, repeated{design: strategy, runs: 8, slower: 1, seed: 5}, results.CompareOptions{})
	want := "note lua-token/strategy: with these runs a difference of less than "
	if text := terminalOf(t, few); !strings.Contains(text, want) || !strings.Contains(text, " of each would show 10%") {
		t.Errorf("%q is not in\n%s", want, text)
	}
	m := metricOf(t, few, "acquire.p50")
	if m.RunsForTenth <= 8 || *m.Visible < 0.1 {
		t.Errorf("8 runs: %.2f is visible, and %d runs show a tenth; want more than 0.1 and 8", *m.Visible, m.RunsForTenth)
	}
	validateComparison(t, few)
	many := compareSides(t, repeated{design: strategy, runs: 58, slower: 1, seed: 4}, repeated{design: strategy, runs: 58, slower: 1, seed: 5}, results.CompareOptions{})
	if len(many.Notes) > 0 {
		t.Errorf("58 runs: notes %q, want none", many.Notes)
	}
}

func TestCompareExits(t *testing.T) {
	even := repeated{design: strategy, runs: 10, slower: 1, seed: 1}
	with := func(r repeated, change func(int, *results.Result)) repeated { r.change, r.seed = change, 2; return r }
	same := repeated{design: strategy, runs: 10, slower: 1, seed: 2}
	slow := repeated{design: strategy, runs: 10, slower: 1.5, seed: 2}
	tenth := []results.Limit{{Metric: "grants_per_s", Share: 0.10}}
	for _, c := range []struct {
		name      string
		base, new repeated
		opt       results.CompareOptions
		exit      int
		says      string
	}{
		{"the same", even, same, results.CompareOptions{}, results.Passed, "No claim is worse: no difference in speed seen (exit 0)"},
		{"slower without a limit", even, slow, results.CompareOptions{}, results.Passed, "figures worse"},
		{"slower than a limit", even, slow, results.CompareOptions{Limits: tenth}, results.FailedThreshold, "PASSED lua-token/strategy: grants_per_s worse by 10% at most: it is -3"},
		{"faster than a limit", slow, even, results.CompareOptions{Limits: tenth}, results.Passed, "kept lua-token/strategy: grants_per_s worse by 10% at most: it is between +"},
		{"too noisy for a limit", even, same, results.CompareOptions{Limits: []results.Limit{{Metric: "acquire.p99", Share: 0.005}}}, results.Inconclusive, "it may be anything from -"},
		{"a limit that more runs would decide", even, same, results.CompareOptions{Limits: []results.Limit{{Metric: "grants_per_s", Share: 0.05}}}, results.Inconclusive, "runs of each would decide it"},
		{"a limit that thousands would decide", even, same, results.CompareOptions{Limits: []results.Limit{{Metric: "grants_per_s", Share: 0.0005}}}, results.Inconclusive, "more or longer runs narrow that"},
		{"six runs", repeated{design: strategy, runs: 6, slower: 1, seed: 1}, repeated{design: strategy, runs: 6, slower: 1.5, seed: 2}, results.CompareOptions{}, results.Passed, "figures worse"},
		{"too few runs", repeated{design: strategy, runs: 5, slower: 1}, repeated{design: strategy, runs: 5, slower: 3}, results.CompareOptions{}, results.Inconclusive, "5 and 5 runs are too few to tell a difference, it takes 6 of each"},
		{"too few runs for a limit", repeated{design: strategy, runs: 5, slower: 1}, repeated{design: strategy, runs: 5, slower: 3}, results.CompareOptions{Limits: tenth}, results.Inconclusive, "open lua-token/strategy: grants_per_s worse by 10% at most: too few runs"},
		{"a claim broken once", even, with(even, breaks(exclusive, true, 3)), results.CompareOptions{}, results.BrokenClaim, "WORSE lua-token/strategy exclusion*: held in 10 runs -> broken in 1 of 10 runs; equals differ so in 50% of cases"},
		{"no claim, broken once", even, with(even, breaks(lockbench.Fencing.At(0), false, 3)), results.CompareOptions{}, results.Passed, "worse lua-token/strategy fencing: untested -> broken in 1 of 1 run"},
		{"no claim, broken by chance", with(even, breaks(lease, false, 1, 2, 3, 4, 5, 6)), with(even, breaks(lease, false, 3)), results.CompareOptions{}, results.Passed, "3 cells the same, and 1 still broken"},
		{"mended", with(even, breaks(exclusive, true, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)), same, results.CompareOptions{}, results.Passed, "better lua-token/strategy exclusion*: broken in 10 of 10 runs -> held in 10 runs"},
		{"not seen again", with(even, breaks(exclusive, true, 0)), same, results.CompareOptions{}, results.Passed, "unclear lua-token/strategy exclusion*: broken in 1 of 10 runs -> held in 10 runs; equals differ so in 50% of cases"},
		{"other settings", even, with(even, param("clients", 8.0)), results.CompareOptions{}, results.Inconclusive, "differs clients: 24 -> 8"},
		{"other settings by force", even, with(even, param("clients", 8.0)), results.CompareOptions{Force: true}, results.Passed, "grants_per_s"},
		{"settings that vary", even, with(even, func(i int, r *results.Result) { r.Runs[0].Params["keys"] = float64(i) }), results.CompareOptions{}, results.Inconclusive, "hint: --force"},
		{"stallers, who are not measured", even, with(even, param("stallers", 12.0)), results.CompareOptions{}, results.Passed, "differs stallers: none -> 12"},
		{"another clock", even, with(even, func(_ int, r *results.Result) { r.Runs[0].Stamps = "adapter" }), results.CompareOptions{}, results.Inconclusive, "differs stamps: driver -> adapter"},
		{"another version", even, with(even, func(_ int, r *results.Result) { r.Server.Version = "redis 8" }), results.CompareOptions{}, results.Passed, "differs server version: redis 7.0.15 -> redis 8"},
		{"another machine", even, with(even, func(_ int, r *results.Result) { r.Environment.CPUs = 64 }), results.CompareOptions{}, results.Inconclusive, "differs CPUs: 2 -> 64"},
		{"an untested claim", even, with(even, func(_ int, r *results.Result) {
			r.Runs[0].Cells.Set(exclusive, results.Finding{Finding: checker.Finding{Claimed: true, Exercised: true}})
		}), results.CompareOptions{}, results.Inconclusive, "exclusion is untested in NEW"},
		{"an ability gone", even, with(even, func(_ int, r *results.Result) {
			r.Runs[0].Cells.Set(exclusive, results.Finding{Finding: checker.Finding{Verdict: checker.NotApplicable}})
		}), results.CompareOptions{}, results.BrokenClaim, "exclusion*: held in 10 runs -> n/a, no longer claimed"},
		{"a claim held on too few occasions", even, with(even, exposed(29, true)), results.CompareOptions{}, results.Passed, "weaker lua-token/strategy exclusion: held on 900 occasions -> on 290, fewer than 299"},
		{"a claim held on too few occasions, which is to fail", even, with(even, exposed(29, true)), results.CompareOptions{FailWeaker: true}, results.FailedThreshold, "Weaker than before: claims that were held on fewer occasions than enough: 1 (exit 4)"},
		{"a claim held on enough occasions", even, with(even, exposed(30, true)), results.CompareOptions{FailWeaker: true}, results.Passed, "No claim is worse"},
		{"a weak claim as before", with(even, exposed(29, true)), with(even, exposed(1, true)), results.CompareOptions{FailWeaker: true}, results.Passed, "No claim is worse"},
		{"no claim, held on too few occasions", with(even, exposed(90, false)), with(even, exposed(1, false)), results.CompareOptions{FailWeaker: true}, results.Passed, "No claim is worse"},
		{"a broken claim is no weak one", even, with(even, breaks(exclusive, true, 3)), results.CompareOptions{FailWeaker: true}, results.BrokenClaim, "WORSE lua-token/strategy exclusion*"},
		{"nothing measured", even, with(even, func(_ int, r *results.Result) { r.Runs[0].Grants = 0 }), results.CompareOptions{}, results.Inconclusive, "one side measured nothing"},
		{"self-check failed", even, with(even, func(_ int, r *results.Result) { r.Prove(&results.SelfCheck{MustBreak: exclusive}) }), results.CompareOptions{}, results.Inconclusive, "a lock broken on purpose was not caught"},
		{"not run", even, with(even, func(_ int, r *results.Result) { r.NotRun = []string{"x/y"} }), results.CompareOptions{}, results.Inconclusive, "not run: x/y"},
		{"a run given twice", even, with(even, func(i int, r *results.Result) {
			if i > 7 {
				r.Runs[0].Started, r.Runs[0].Seed = "2026-11-02T10:00:02Z", 42
			}
		}), results.CompareOptions{}, results.Passed, "note lua-token/strategy: 2 runs given more than once, which count once"},
		{"loads that were not offered", even, with(even, func(i int, r *results.Result) { r.Runs[0].OpenLoop = &results.OpenLoop{KeptUp: i > 1} }), results.CompareOptions{}, results.Passed, "note lua-token/strategy: 2 runs were not offered the load that was asked for"},
		{"two designs", even, repeated{design: "lua-token/fenced", runs: 10, slower: 1, seed: 5}, results.CompareOptions{}, results.Passed, "lua-token/strategy -> lua-token/fenced, 10 runs of each"},
		{"one after the other", repeated{design: strategy, runs: 10, slower: 1, seed: 3}, with(even, func(i int, r *results.Result) { r.Runs[0].Started = fmt.Sprintf("2027-01-01T00:%02d:00Z", i) }), results.CompareOptions{}, results.Passed, "note all runs of one side were made before"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := compareSides(t, c.base, c.new, c.opt)
			text := terminalOf(t, got)
			if got.Exit != c.exit {
				t.Errorf("exit %d, want %d\n%s", got.Exit, c.exit, text)
			}
			if !strings.Contains(text, c.says) {
				t.Errorf("%q is not in\n%s", c.says, text)
			}
			validateComparison(t, got)
		})
	}
}

func terminalOf(t *testing.T, c results.Comparison) string {
	t.Helper()
	var buf bytes.Buffer
	if err := Write(&buf, Text, &c, Options{}); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func validateComparison(t *testing.T, c results.Comparison) {
	t.Helper()
	var buf bytes.Buffer
	if err := Write(&buf, JSON, &c, Options{}); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if err := compile(t, true).Validate(doc); err != nil {
		t.Error(err)
	}
}

func TestComparePairs(t *testing.T) {
	one := repeated{design: strategy, runs: 1, slower: 1}
	two := repeated{design: "lua-token/token", runs: 1, slower: 1}
	three := repeated{design: "lua-token/fenced", runs: 1, slower: 1}
	side := func(all ...repeated) (results []results.Result) {
		for _, r := range all {
			results = append(results, r.results()...)
		}
		return results
	}
	for _, c := range []struct {
		name      string
		base, new []results.Result
		want      string
	}{
		{"nothing", nil, side(one), "BASE has no runs"},
		{"nothing new", side(one), nil, "NEW has no runs"},
		{"by name", side(one, two), side(two, one, three), "[lua-token/strategy lua-token/token] [] [lua-token/fenced]"},
		{"the only one", side(one), side(two), "[lua-token/strategy -> lua-token/token] [] []"},
		{"none in common", side(one), side(two, three), "the sides have no design in common: BASE has lua-token/strategy, NEW has lua-token/token, lua-token/fenced; hint: give files with one design on each side to compare two designs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := results.Compare(c.base, c.new, results.CompareOptions{})
			var names []string
			for i := range got.Designs {
				names = append(names, got.Designs[i].Label())
			}
			text := fmt.Sprint(names, got.BaseOnly, got.NewOnly)
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff(text, c.want); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
}

// TestFiguresAreMetrics checks that a figure has the name and the value of its metric in package
// thresholds.
func TestFiguresAreMetrics(t *testing.T) {
	j := judged(header(strategy, "private"), 100)
	r := results.New([]results.Judged{j}, nil)
	c, err := results.Compare([]results.Result{r}, []results.Result{r}, results.CompareOptions{})
	if err != nil || len(c.Designs) != 1 || len(c.Designs[0].Metrics) == 0 {
		t.Fatalf("got %+v (%v), want figures of one design", c, err)
	}
	d := &c.Designs[0]
	for _, f := range d.Metrics {
		m, err := thresholds.Find(f.Metric)
		if err != nil {
			t.Error(err)
			continue
		}
		r := m.Read(j.Metrics())
		if got, _ := d.Samples(f.Metric); m.Unit != f.Unit || len(got) > 0 && got[0] != r.Value {
			t.Errorf("%s: got %v (%s), want %v (%s)", f.Metric, got, f.Unit, r.Value, m.Unit)
		}
	}
}

func TestParseLimit(t *testing.T) {
	for _, c := range []struct {
		text string
		want []results.Limit
		err  string
	}{
		{"10%", []results.Limit{{Metric: "grants_per_s", Share: 0.1}, {Metric: "acquire.p50", Share: 0.1}}, ""},
		{"acquire.p99=25%", []results.Limit{{Metric: "acquire.p99", Share: 0.25}}, ""},
		{"acquire.p98=25%", nil, "p99"},
		{"0.1", nil, `"0.1" is no share above zero; hint: 10% or acquire.p99=10%`},
		{"-5%", nil, `"-5%" is no share above zero; hint: 10% or acquire.p99=10%`},
		{"NaN%", nil, `"NaN%" is no share above zero; hint: 10% or acquire.p99=10%`},
	} {
		got, err := results.ParseLimit(c.text)
		if diff := cmp.Diff(got, c.want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", c.text, diff)
		}
		if c.err == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got error %v, want %q", c.text, err, c.err)
		}
	}
}

// TestBench reads the output with the parser of benchstat.
func TestBench(t *testing.T) {
	var buf bytes.Buffer
	c := compareSides(t, repeated{design: strategy, runs: 2, slower: 1}, repeated{design: "lua-token/fenced", runs: 2, slower: 1}, results.CompareOptions{})
	if err := Write(&buf, Bench, &c, Options{}); err != nil {
		t.Fatal(err)
	}
	r, lines := benchfmt.NewReader(&buf, "test"), 0
	for r.Scan() {
		switch record := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(record)
		case *benchfmt.Result:
			lines++
			if v, found := record.Value("grants/s"); !found || v < 1000 {
				t.Errorf("grants/s %v, %v", v, found)
			}
			if v, found := record.Value("acquire-p50-sec"); !found || v > 1 {
				t.Errorf("acquire-p50-sec %v, %v", v, found)
			}
			if want := []string{"base", "base", "new", "new"}[lines-1]; record.GetConfig("side") != want {
				t.Errorf("line %d: side %q, want %q", lines, record.GetConfig("side"), want)
			}
		}
	}
	if err := r.Err(); err != nil || lines != 4 {
		t.Errorf("%d lines, %v; want 4", lines, err)
	}
}

func TestMarkdownComparison(t *testing.T) {
	c := compareSides(t, repeated{design: "a|b/*c*", runs: 10, slower: 1, change: func(_ int, r *results.Result) { r.Server = runinfo.Server{Kind: "embedded"} }},
		repeated{design: "a|b/*c*", runs: 10, slower: 1.5, seed: 1, change: breaks(exclusive, true, 1)}, results.CompareOptions{Force: true})
	var buf bytes.Buffer
	if err := Write(&buf, Markdown, &c, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"### lockbench: Worse\n\n1 cell that is claimed: exclusion (exit 1)\n", `- **WORSE** a\|b/\*c\* exclusion\*: held in 10 runs -&gt; broken in 1 of 10 runs`,
		"| figure | base | new | change | between | p |\n", `| attempts\_per\_grant | 1.5 ±0% | 1.5 ±0% | \~ |`, "- **differs** server: embedded -&gt; private\n",
	} {
		if !strings.Contains(buf.String(), want) {
			t.Errorf("%q is not in\n%s", want, buf.String())
		}
	}
}
