package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// latencyNames are the latencies of a run that a page shows.
var latencyNames = []struct{ op, name, means string }{
	{"acquire", "acquire", "call to grant"},
	{"service", "acquire, service time", "from the call to the grant: what the lock took"},
	{"lag", "start lag", "how late acquires were started"},
	{"refused", "refused", "acquires that were refused"},
	{"release", "release", "call to answer"},
	{"extend", "extend", "call to answer"},
	{"handoff", "hand-off", "a release's call to the next grant, somebody waiting"},
	{"hold", "hold", "a grant to the release's call"},
	{"loss_notice", "loss notice", "the next owner's grant to when the owner before is told; zero where it was told sooner"},
	{"left_taken", "left taken", "an acquire without an answer, on a free key, to the latest that others met the key taken"},
}

// percentiles are the columns of the table of latencies.
var percentiles = []struct {
	name string
	pick func(results.Latency) int64
}{
	{"p50", p50}, {"p90", p90}, {"p99", p99}, {"p99.9", p999},
	{"p99.99", func(l results.Latency) int64 { return l.P9999 }}, {"max", longest},
}

// runOpen reports whether r is an open loop: iterations begin by a timetable, and latencies of
// acquires count from the intended start.
func runOpen(r *results.Run) bool { return r.Latency["lag"].Count > 0 }

// runLatencies returns the table of latencies. It leaves out operations that did not happen. It
// leaves out the service time if every acquire started as intended, since that equals the response
// time.
func runLatencies(r *results.Run) *document.Table {
	t := &document.Table{Corner: "latency", Columns: []document.Column{{Name: "count", Number: true}}}
	for _, p := range percentiles {
		t.Columns = append(t.Columns, document.Column{Name: p.name, Number: true})
	}
	for _, l := range latencyNames {
		found := r.Latency[l.op]
		if found.Count == 0 || l.op == "service" && !runOpen(r) {
			continue
		}
		if l.op == "acquire" && runOpen(r) {
			l.name, l.means = "acquire, response time", "from the intended start to the grant: what callers waited"
		}
		row := document.Row{Name: l.name, About: l.means, Cells: []document.Value{{Text: figures.Number(found.Count)}}}
		for _, p := range percentiles {
			row.Cells = append(row.Cells, document.Value{Text: figures.Compact(p.pick(found))})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// charts returns the charts of one run, with the table of its latencies.
func charts(r *results.Run, id, label string) []document.Block {
	t := runLatencies(r)
	if len(t.Rows) == 0 {
		return nil
	}
	t.Title = "Latencies of " + label
	add := func(kind, title, caption, says string, full bool) *document.Chart {
		return &document.Chart{Kind: kind, Subject: id, Title: title, Caption: caption, Says: says, Full: full}
	}
	const below = "; the table of latencies below has the figures"
	blocks := []document.Block{
		add("spectrum", "Latency", "how long the given share took at most", "Latency of "+label+" by percentile"+below, false),
		add("handoff", "Hand-off and hold", "a release to the next grant while somebody waits; how long locks were held", "Hand-off and hold of "+label+" by percentile"+below, false),
	}
	if over := drawable(r); over != nil {
		caption := "grants per second and violations"
		if len(over.Faults) > 0 {
			caption += "; a tick above where a fault occurred, hatched while it lasted"
		}
		if over.WarmupNS > 0 {
			caption += "; grey is the warm-up"
		}
		blocks = append(blocks,
			add("overtime", "Over time", caption, "Grants per second and violations of "+label+" over the run, faults shaded", true),
			add("slowest", "Slowest acquire", "granted at each time", "Slowest acquire of "+label+" over the run", true))
	}
	if n := len(r.GrantsByClient); n > 0 {
		f := &r.Fairness
		least, most := figures.Number(r.GrantsByClient[0]), figures.Number(r.GrantsByClient[n-1])
		blocks = append(blocks, add("fairness", "Fairness",
			fmt.Sprintf("grants of each client, fewest first; Jain's index %.3f (1 is even), longest wait %s, at most %s later callers served before one that waited; fewest %s, most %s",
				f.Jain, figures.Compact(f.MaxWait), figures.Number(f.MaxBypassed), least, most),
			"Grants of each client of "+label+", fewest first: from "+least+" to "+most, true))
	}
	return []document.Block{&document.Section{Role: document.Charts, Blocks: blocks}, t}
}

// maxBuckets is more than the number of buckets in any series of lockbench.
const maxBuckets = 4096

// drawable returns the figures of r over time, nil if they cannot be drawn. A file may contain
// anything.
func drawable(r *results.Run) *results.OverTime {
	if t := r.OverTime; t == nil || t.BucketNS <= 0 || t.EndNS/t.BucketNS > maxBuckets {
		return nil
	}
	return r.OverTime
}

// mostLines is the largest number of lines in one chart that can be told apart.
const mostLines = 6

// drawn returns the labels of the lines that a chart of all runs shows at first: the recommended
// lock, then the fastest of each family, then the fastest of the rest.
func (s *summary) drawn() map[string]bool {
	all, shown := labels(s.result), make(map[string]bool)
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.result.Runs[b].GrantsPerS, s.result.Runs[a].GrantsPerS) })
	families := make(map[string]bool)
	for _, sort := range []func(run *results.Run, family string) bool{
		func(run *results.Run, _ string) bool { return s.result.Recommendation.Of(run) },
		func(_ *results.Run, family string) bool { return !families[family] },
		func(*results.Run, string) bool { return true },
	} {
		for _, i := range order {
			run := &s.result.Runs[i]
			family, _, _ := strings.Cut(run.Design, "/")
			if len(shown) < mostLines && sort(run, family) {
				shown[all[i]], families[family] = true, true
			}
		}
	}
	return shown
}

// series returns the data for the charts of all runs.
func (s *summary) series() (all []document.Series) {
	drawn := s.drawn()
	for i, label := range labels(s.result) {
		run := &s.result.Runs[i]
		d := document.Series{
			Label: label, Hidden: !drawn[label], Slow: run.Exploration == nil && s.result.ServerOf(run).Kind == "embedded",
			Spectra: make(map[string]document.Distribution), Verdicts: make(map[string]string), Grants: run.GrantsByClient,
			Response: runOpen(run), Settings: s.shared(),
		}
		if over := drawable(run); over != nil {
			d.OverTime = over
		}
		for _, l := range latencyNames {
			if found := run.Latency[l.op]; found.Count > 0 && isCurve(found.Spectrum) && (l.op != "service" || runOpen(run)) {
				d.Spectra[l.op] = document.Distribution{Count: found.Count, Shares: found.Spectrum.Shares, NS: found.Spectrum.NS}
			}
		}
		for cell := range run.Cells.Cells {
			d.Verdicts[cell.String()] = claimedWord(run.Cells.Fails(cell))
		}
		all = append(all, d)
	}
	return all
}

// isCurve reports whether a spectrum can be drawn.
func isCurve(s *results.Spectrum) bool {
	return s != nil && len(s.NS) > 0 && len(s.NS) == len(s.Shares)
}
