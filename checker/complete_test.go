package checker

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/workloads"
)

// TestEveryGuaranteeIsComplete names all missing parts of a guarantee: its number, monitor,
// kinds of violation, cases, papers, and the programs and designs that test and claim it.
func TestEveryGuaranteeIsComplete(t *testing.T) {
	all := lockbench.Guarantees()
	if len(all) != int(guaranteeCount) {
		t.Fatalf("guarantee.go has %d guarantees, kinds.go numbers %d", len(all), guaranteeCount)
	}
	paper, err := os.ReadFile("../docs/design/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	var forUsers [][]byte
	for _, page := range []string{"choosing", "reports"} {
		text, err := os.ReadFile("../docs/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		forUsers = append(forUsers, text)
	}
	exercised, claimed, broken := exercisedCells(), claimedCells(), brokenByMutants()
	for _, g := range all {
		p, name := slices.Index(names[:], g.Name), plain(g.Name)
		if p < 0 {
			t.Errorf("%s has no number; hint: checker/kinds.go", g.Name)
			continue
		}
		lacks := func(missing bool, format string, args ...any) {
			if missing {
				t.Errorf("%s has no "+format, append([]any{g.Name}, args...)...)
			}
		}
		own := kindsOf(guaranteeID(p))
		lacks(monitors[p] == nil, "monitor; hint: monitorOf in checker/%s.go", name)
		lacks(own == 0, "kind of violation; hint: kindOf in checker/%s.go", name)
		row := fmt.Sprintf("\n| %s | %s | %s.go |\n", g.Name, g.Promise, name)
		lacks(!strings.Contains(strings.ReplaceAll(string(paper), "`", ""), row), "row with its promise and %s.go in docs/design/guarantees.md", name)
		rows := regexp.MustCompile(fmt.Sprintf(`(?m)^\| \w+ \| %s( or [^|]*)? \| (%s) \|`, g.Name, strings.Join(questionNames[:], "|"))).FindAll(paper, -1)
		lacks(len(rows) != own, "row for each of its %d kinds in docs/design/guarantees.md, which has %d", own, len(rows))
		lacks(!strings.Contains(string(paper), "\n- **"+string(g.Name)+"**: "), "line in *What each guarantee asks* of docs/design/guarantees.md")
		lacks(!bytes.Contains(forUsers[0], []byte("`"+g.Name)), "row in docs/choosing.md, *What a broken cell rules out*")
		lacks(!bytes.Contains(forUsers[1], []byte(g.Name)), "question in docs/reports.md")
		lacks(!exercised[g.Name], "program (workloads/catalog.go) or fault (internal/fault/table.go) that exercises it")
		lacks(!claimed[g.Name], "design that claims it (impls/*/designs.go, or Sound in internal/mutants)")
		lacks(!broken[g.Name], "mutant that breaks it (internal/mutants)")
	}
}

// TestGuaranteesNameFilesAndCases: the file of a guarantee and its group of cases have its name
// without hyphens, and the group has a case that breaks it and one that keeps it.
func TestGuaranteesNameFilesAndCases(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range lockbench.Guarantees() {
		name := plain(g.Name)
		text, err := os.ReadFile(name + ".go")
		if err != nil || !strings.Contains(string(text), "monitorOf(") {
			t.Errorf("%s: no monitor in checker/%s.go", g.Name, name)
		}
		found := map[string]bool{}
		for _, f := range archive.Files {
			if strings.HasPrefix(f.Name, name+"/") {
				for cell, verdict := range parseText(t, string(f.Data)).want {
					found[verdict] = found[verdict] || cell.Guarantee == g.Name
				}
			}
		}
		for _, v := range []Verdict{Broken, Held} {
			if !found[v.String()] {
				t.Errorf("%s: no case %s/... in testdata/cases.txt that wants %s %v", g.Name, name, g.Name, v)
			}
		}
	}
}

// plain is the name of a guarantee without hyphens.
func plain(g lockbench.Guarantee) string { return strings.ReplaceAll(string(g), "-", "") }

// kindsOf counts the kinds that a guarantee's file declares.
func kindsOf(p guaranteeID) (n int) {
	for _, k := range kinds {
		if k.breaks[0] == p {
			n++
		}
	}
	return n
}

func exercisedCells() map[lockbench.Guarantee]bool {
	found := map[lockbench.Guarantee]bool{}
	for _, row := range fault.Rows() {
		addGuarantees(found, row.Exercises)
	}
	for _, driver := range []workloads.Drivers{workloads.Live, workloads.Explored} {
		for _, p := range workloads.By(driver) {
			addGuarantees(found, append(p.Cells(workloads.Options{}), p.Exercises...))
		}
	}
	return found
}

func claimedCells() map[lockbench.Guarantee]bool {
	found := map[lockbench.Guarantee]bool{}
	for _, d := range append(impls.All(), mutants.Sound()...) {
		for _, g := range d.Claims.Keeps {
			found[g] = true
		}
		addGuarantees(found, d.Claims.Also)
	}
	return found
}

func brokenByMutants() map[lockbench.Guarantee]bool {
	found := map[lockbench.Guarantee]bool{}
	for _, m := range mutants.Mutants() {
		addGuarantees(found, m.Breaks)
	}
	return found
}

func addGuarantees(to map[lockbench.Guarantee]bool, cells []lockbench.Cell) {
	for _, c := range cells {
		to[c.Guarantee] = true
	}
}

// TestEveryConditionHasACase wants a case in which each condition touches a violation.
func TestEveryConditionHasACase(t *testing.T) {
	settings := caseSettings(t)
	for _, c := range lockbench.AllConditions() {
		found := false
		for _, s := range strings.Fields(settings) {
			cell, verdict, _ := strings.Cut(s, "=")
			_, under, conditional := strings.Cut(cell, "@")
			for _, name := range strings.Split(under, "+") {
				found = found || conditional && name == c.Name && verdict == Broken.String()
			}
		}
		if !found {
			t.Errorf("no case of testdata/cases.txt has something broken under %s", c.Name)
		}
	}
}

// caseSettings are the lines of testdata/cases.txt with expectations.
func caseSettings(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range txtar.Parse(text).Files {
		for line := range strings.Lines(string(f.Data)) {
			if strings.HasPrefix(line, "#!") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
	}
	return strings.Join(lines, "\n")
}
