package checker

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lockbench/lockbench"
)

// TestEveryGuaranteeIsJudged wants of each guarantee its number, a monitor, a kind of violation
// and a case that breaks it, and of each kind its row.
func TestEveryGuaranteeIsJudged(t *testing.T) {
	all := lockbench.Guarantees()
	if len(all) != int(promises) {
		t.Fatalf("guarantee.go has %d guarantees, kinds.go numbers %d", len(all), promises)
	}
	for k := range kinds {
		if len(kinds[k].breaks) == 0 || kinds[k].sentence == "" {
			t.Errorf("kind %d of kinds.go has no row, or one that breaks or says nothing", k)
		}
	}
	settings := caseSettings(t)
	for p, g := range all {
		kind := false
		for _, k := range kinds {
			kind = kind || len(k.breaks) > 0 && k.breaks[0] == promise(p)
		}
		broken := regexp.MustCompile(` ` + regexp.QuoteMeta(string(g.Name)) + `(@\S*)?=broken`).MatchString(settings)
		switch {
		case monitors[p] == nil:
			t.Errorf("%s has no monitor in facts.go", g.Name)
		case !kind:
			t.Errorf("%s has no kind of violation in kinds.go", g.Name)
		case !broken:
			t.Errorf("%s has no case in testdata/cases.txt that breaks it", g.Name)
		}
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

// caseSettings are the lines of testdata/cases.txt that say what is expected.
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
