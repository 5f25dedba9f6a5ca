package html_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
	"github.com/lockbench/lockbench/internal/testkit/pagetest"
	"github.com/lockbench/lockbench/results"
)

// readmeMatrix is the matrix that the README shows: live runs and explorations of all
// designs.
func readmeMatrix(t testing.TB) *results.Matrix {
	t.Helper()
	return load[*results.Matrix](t, "../../../docs/matrix.json")
}

// headlines are the headlines by exit code.
var headlines = map[int]string{
	results.Passed: "No claim was broken", results.BrokenClaim: "Claims were broken",
	results.Inconclusive: "Inconclusive", results.FailedThreshold: "Thresholds failed",
}

// shown reports whether a finding has a drawable counterexample.
func shown(f *results.Finding) bool {
	return f.Verdict == checker.Broken && (f.Counterexample != nil && len(f.Counterexample.Ops) > 0 || f.Schedule != nil)
}

var (
	linkWithin = regexp.MustCompile(`href="#([^"]+)"`)
	idWithin   = regexp.MustCompile(` id="([^"]+)"`)
)

// linksLead asserts that every link within a page has exactly one target.
func linksLead(t *testing.T, page string) {
	t.Helper()
	times := make(map[string]int)
	for _, id := range idWithin.FindAllStringSubmatch(page, -1) {
		times[id[1]]++
	}
	for _, link := range linkWithin.FindAllStringSubmatch(page, -1) {
		if times[link[1]] != 1 {
			t.Errorf("#%s is there %d times, want once", link[1], times[link[1]])
		}
	}
}

// TestWriteMatrix checks that every cell of the released matrix links to its evidence
// and that every counterexample in it is drawn.
func TestWriteMatrix(t *testing.T) {
	m := readmeMatrix(t)
	compressed := written(t, m)
	if len(compressed) > 1<<20 || len(compressed) > 30_000*len(m.Rows) {
		t.Errorf("the page has %d bytes for %d designs, want 1 MiB and 30,000 a design at most", len(compressed), len(m.Rows))
	}
	if !strings.Contains(compressed, "Pictures, and the cells of each design, need JavaScript") {
		t.Error("the page does not say what needs JavaScript")
	}
	page := pagetest.Unpack(t, compressed)
	linksLead(t, page)
	headline := headlines[m.Exit]
	for _, want := range []string{
		`<h1 id="verdict">No design is safe without a guard</h1>`, "<b>" + headline + "</b>", `<th scope="col" class="turned"><span>holder outlives its lease</span></th>`, "<small>not tried</small>", "lockbench matrix setnx-getset/naive", "--drivers live,explore",
		`href="#design-1-exclusion"`, `<td class="weak" title="two at once: `, "broken, not claimed: ", "lockbench run --design setnx-getset/naive --seed 1 --fault crash",
		"The schedule as a file for", "exclusion is not claimed under outlived",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if found := elsewhere.FindString(page); found != "" {
		t.Errorf("the page refers elsewhere: %s", found)
	}
	pictured, drawn, cells := 0, strings.Count(page, "<figure class=\"lanes\"")+strings.Count(page, "by the steps shown for")+strings.Count(page, "by the operations shown for"), strings.Count(page, "<details class=\"cell\"")
	for _, r := range m.Rows {
		for cell := range r.Cells.Cells {
			for _, p := range r.Parts.On(cell) {
				if f := p.Cells.At(cell); shown(&f) {
					pictured++
				}
			}
		}
	}
	if drawn != pictured || pictured < 100 {
		t.Errorf("%d counterexamples are shown, want %d, and more than a hundred", drawn, pictured)
	}
	want := 0
	for _, r := range m.Rows {
		for cell, f := range r.Cells.Cells {
			shows := func(p *results.Part) bool { f := p.Cells.At(cell); return shown(&f) }
			if cell.Under.Count() <= 1 || f.Verdict == checker.Broken || slices.ContainsFunc(r.Parts.On(cell), shows) {
				want++
			}
		}
	}
	if cells != want {
		t.Errorf("got %d cells, want %d", cells, want)
	}
}

// TestMatrixThatIsOpen checks that the page names the parts that did not run, and takes
// no unproven finding for proven.
func TestMatrixThatIsOpen(t *testing.T) {
	m := readmeMatrix(t)
	for i := range m.SelfCheck.Parts {
		m.SelfCheck.Parts[i].Cells = results.Cells{}
	}
	m.Rows[0].Parts = m.Rows[0].Parts[:1]
	m.Settle()
	page := pagetest.Unpack(t, written(t, m))
	for _, want := range []string{`class="verdict open"`, "<strong>not run</strong> setnx-getset/naive: live faults", "It counts as untested", "<b>live faults, live failover, live skew, live guard, explore</b> not run"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if page := written(t, &results.Matrix{Exit: results.Inconclusive}); !strings.Contains(page, "<p>nothing was run. ") {
		t.Error("a page of nothing does not say so")
	}
}

// TestMatrixGated shows thresholds first.
func TestMatrixGated(t *testing.T) {
	m := readmeMatrix(t)
	gate, err := thresholds.ParseThreshold("lua-token/strategy: exclusion@state-loss.violations>0")
	if err != nil {
		t.Fatal(err)
	}
	m.Gate([]thresholds.Threshold{gate})
	page := written(t, m)
	headline := headlines[m.Exit]
	at := -1
	for _, want := range []string{`<h1 id="verdict">` + headline + `</h1>`, `<h2 id="thresholds">`, "lua-token/strategy: exclusion@state-loss.violations&gt;0</b> ", `<table class="matrix">`} {
		next := strings.Index(page, want)
		if next <= at {
			t.Errorf("%q is not in the page after what should come before it", want)
		}
		at = next
	}
}

// spoiledMatrix returns a matrix with hostile code in place of every name.
func spoiledMatrix(t testing.TB) *results.Matrix {
	m := readmeMatrix(t)
	m.Rows = m.Rows[:1]
	m.Notes, m.NotRun, m.Environment.Version = []string{hostile}, []string{hostile}, hostile
	r := &m.Rows[0]
	r.Design, r.Source, r.Library = hostile, hostile, hostile
	r.Claims.Except = append(r.Claims.Except, lockbench.Exception{Under: lockbench.Outlived, Why: hostile})
	r.Without = []results.MatrixOmission{{Part: hostile, Why: hostile}}
	for i := range r.Parts {
		p := &r.Parts[i]
		p.Command, p.Error, p.History, p.Defects, p.Server.Version = hostile, hostile, hostile, []string{hostile}, hostile
	}
	for i := range r.Parts {
		cells := &r.Parts[i].Cells
		for cell, f := range cells.All() {
			f.Note, f.Scenarios = hostile, []string{hostile}
			if f.Counterexample != nil {
				f.Counterexample.Key, f.Counterexample.Sentence = hostile, hostile
			}
			if f.Schedule != nil {
				f.Schedule.Replay = hostile
				for j := range f.Schedule.Steps {
					f.Schedule.Steps[j].Command, f.Schedule.Steps[j].Client = hostile, hostile
				}
			}
			cells.Set(cell, f)
		}
	}
	return m
}

func TestMatrixEscapes(t *testing.T) { escaped(t, pagetest.Unpack(t, written(t, spoiledMatrix(t)))) }
