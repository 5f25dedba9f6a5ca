package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// needed names, for each row of the two tables of explanations, a case of testdata/cases.txt
// in which something else is found without that row.
var needed = []struct {
	name  string
	table *[]explanation
	cases []string // by row
}{
	{"early-grants", &earlyGrants, []string{
		"partial/granted-early-after-a-cut",
		"ownerrelease/late-release-lets-a-third-in",
		"lost-reply/retry-of-a-release-frees-the-next",
		"cancel/falls-through",
		"ownerrelease/late-and-given-up",
		"ownerrelease/while-the-next-was-being-granted",
		"reentrancy/inner-release-freed",
		"session/taken-from-the-living",
		"lease/in-time",
		"exclusion/two-at-once",
	}},
	{"unfounded-losses", &unfoundedLosses, []string{
		"ownerrelease/next-holder-is-told-it-lost",
		"lost-reply/told-of-a-loss-after-one",
		"adversary/inner-release-freed-and-nobody-came",
		"lossreported/not-falsely-when-another-may-have-it",
		"lossreported/taken-before-the-release-ran",
		"ownerrelease/under-way-while-the-next-was-granted",
		"script-flush/falsely-told-of-a-loss",
		"lossreported/falsely",
	}},
}

// TestEachExplanationIsNeeded judges a case for each row of the tables with and without it.
func TestEachExplanationIsNeeded(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range needed {
		rows := *n.table
		if len(n.cases) != len(rows) {
			t.Fatalf("%s: %d rows, and cases for %d", n.name, len(rows), len(n.cases))
		}
		for i, name := range n.cases {
			t.Run(n.name+"/"+strings.ReplaceAll(rows[i].reason, " ", "-"), func(t *testing.T) {
				at := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == name })
				if at < 0 {
					t.Fatalf("there is no case %s", name)
				}
				text := string(archive.Files[at].Data)
				with := violationsOf(t, text)
				*n.table = slices.Delete(slices.Clone(rows), i, i+1)
				defer func() { *n.table = rows }()
				if without := violationsOf(t, text); with == without {
					t.Errorf("case %s: the same is found without this row:\n%s", name, with)
				}
			})
		}
	}
}

// violationsOf lists the violations of a case, with their sentences.
func violationsOf(t *testing.T, text string) string {
	t.Helper()
	result, err := Check(parseText(t, text).source())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range result.Findings {
		if f.Violations > 0 {
			fmt.Fprintf(&b, "%s, %d times: %s\n", f.Cell, f.Violations, f.Counterexample.Sentence)
		}
	}
	return b.String()
}
