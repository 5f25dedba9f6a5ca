package explore_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
)

var updateFaults = flag.Bool("update", false, "rewrite docs/faults.md")

const (
	faultTable = "../../docs/faults.md"
	// The facts that the documents rely on, and the faults not shown as a schedule:
	// blocks of "name: value" lines.
	reliedUpon = "testdata/faults/relied-upon.txt"
	notShown   = "testdata/faults/not-shown.txt"
)

// TestFaultTable compares docs/faults.md with the files.
func TestFaultTable(t *testing.T) {
	all := faults(t)
	got := faultTableOf(all, blocks(t, reliedUpon, "document", "relies on", "shows", "file"), blocks(t, notShown, "fault", "why", "shown"))
	if *updateFaults {
		if err := os.WriteFile(faultTable, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(faultTable)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(got, strings.ReplaceAll(string(want), "\r\n", "\n")); diff != "" {
		t.Errorf("%s (-got +want), -update rewrites it:\n%s", faultTable, diff)
	}
}

// TestNamesOfTheTable shows that the files and tests that the table sends its
// readers to are there.
func TestNamesOfTheTable(t *testing.T) {
	for _, b := range blocks(t, reliedUpon, "document", "relies on", "shows", "file") {
		if _, err := os.Stat(filepath.Join(faultFolder, b["file"]+".replay")); err != nil {
			t.Errorf("%q: %v", b["relies on"], err)
		}
	}
	for _, b := range blocks(t, notShown, "fault", "why", "shown") {
		folder, test, named := strings.Cut(b["shown"], " ")
		if !named || folder == "nowhere" {
			continue
		}
		if !defines(t, filepath.Join("../..", folder), test) {
			t.Errorf("%q: there is no %s in %s", b["fault"], test, folder)
		}
	}
}

// defines reports whether a test of that name is in the folder.
func defines(t *testing.T, folder, test string) bool {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		text, err := os.ReadFile(path)
		return err == nil && regexp.MustCompile(`(?m)^func `+regexp.QuoteMeta(test)+`\(`).Match(text)
	})
}

// blocks reads a file of "name: value" lines in blocks, each with just these names.
func blocks(t *testing.T, path string, names ...string) (all []map[string]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	for _, block := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		b := map[string]string{}
		for line := range strings.Lines(block) {
			name, value, is := strings.Cut(strings.TrimSpace(line), ": ")
			if !is || !slices.Contains(names, name) || b[name] != "" {
				t.Fatalf("%s: %q; hint: each of %s once a block", path, line, strings.Join(names, ", "))
			}
			b[name] = value
		}
		if len(b) != len(names) {
			t.Fatalf("%s: %q lacks one of %s", path, block, strings.Join(names, ", "))
		}
		all = append(all, b)
	}
	return all
}

// faultTableOf is docs/faults.md.
func faultTableOf(all []faultFile, relied, not []map[string]string) string {
	var b strings.Builder
	b.WriteString(faultTableHead)
	b.WriteString(reliedHead)
	for _, r := range relied {
		i := slices.IndexFunc(all, func(f faultFile) bool { return f.name() == r["file"] })
		fmt.Fprintf(&b, "| %s | %s | %s: %s | %s |\n", r["document"], r["relies on"], r["shows"], all[max(i, 0)].figures(), r["file"])
	}
	design := ""
	for _, f := range all {
		if f.design != design {
			design = f.design
			fmt.Fprintf(&b, "\n## %s\n\n%s", design, faultColumns)
		}
		b.WriteString(f.row())
	}
	b.WriteString(notShownHead)
	for _, n := range not {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", n["fault"], n["why"], n["shown"])
	}
	return linkDocuments(b.String())
}

// linkDocuments makes each name of a source document, D0 to D4, a link to its entry in
// docs/designs.md.
func linkDocuments(page string) string {
	page = sourceDocument.ReplaceAllString(page, "[$0]") + "\n"
	for d := range 5 {
		page += fmt.Sprintf("[D%d]: designs.md#d%d\n", d, d)
	}
	return page
}

var sourceDocument = regexp.MustCompile(`\bD[0-4]\b`)

// row is the file's line in the table of its design.
func (f faultFile) row() string {
	why, schedule, seconds := f.why, "", ""
	if f.byHand != "" {
		why += "; by hand: " + f.byHand
	}
	if f.schedule > 0 {
		schedule, seconds = fmt.Sprint(f.schedule), fmt.Sprintf("%.1f", f.after.Seconds())
	}
	return fmt.Sprintf("| %s<br>*%s* | %s %s | %s | `%s` | %s | %s | %d | %s |\n",
		f.fault, why, f.breaks, f.verdict, f.needs(), cmp.Or(f.flags, "--scenario contend"), schedule, seconds, f.steps, f.name())
}

// figures describes the result of f's schedule, and its requirements.
func (f faultFile) figures() string {
	text := fmt.Sprintf("%s %s in %d steps", f.breaks, f.verdict, f.steps)
	if needs := f.needs(); needs != "defaults" {
		text += ", with " + needs
	}
	if f.verdict != checker.Held {
		text += fmt.Sprintf(", by schedule %d of the search", f.schedule)
	}
	return text
}

const (
	faultTableHead = `<!-- Generated from internal/explore/testdata/faults by go test ./internal/explore -run TestFaultTable -update. -->

# The faults of the documents' designs, as explore finds them

What a fault kind is, and how each is injected and recorded, is in [design/faults.md](design/faults.md); when each occurs in a live run is in [the table of faults](design/guarantees.md#faults-and-their-conditions) and in
` + "`lockbench list faults`" + `. An exploration has each occur wherever a schedule can. Here are faults of locks.

Each row is a schedule under ` + "`internal/explore/testdata/faults`" + `. A test replays it at every change. The same by hand:

    lockbench explore --replay internal/explore/testdata/faults/NAME.replay

The designs are in ` + "`impls`" + `, a folder a family and a file a design. What a row says is broken is a guarantee under conditions: [the table of
guarantees](design/guarantees.md) names the file of ` + "`checker`" + ` that judges it (exclusion in ` + "`checker/exclusion.go`" + `); its cases are in ` + "`checker/testdata/cases.txt`" + `. The race for an expired
key by GETSET: ` + "`setnx-getset-timestamp.late-getset`" + ` (` + "`impls/setnx-getset/timestamp.go`" + `; its test has two that win by GETSET) and
` + "`setnx-getset-expiry.slow-loser-shortens`" + ` (` + "`impls/setnx-getset/expiry.go`" + `), both judged in ` + "`checker/exclusion.go`" + `, case ` + "`exclusion/two-at-once`" + `.

D0 to D4 are the source documents of the designs.

| column | meaning |
|---|---|
| fault | what goes wrong, and in italics why |
| verdict | the cell, and whether the schedule breaks it. A cell that is *held* is a fault that was feared in vain, or is repaired |
| needs | what the schedule needs beyond the defaults of ` + "`lockbench explore`" + `: two clients, one fault, two moves of time |
| explore with | flags that lead to this fault and to no other of the same guarantee |
| schedule | the number of the first schedule that shows it; the same on every machine |
| seconds | how long that takes: the least of a few searches on a busy machine with two cores |
| steps | scheduling points of the shortest schedule found; a transaction is one |

*By hand* marks a schedule that is written to show one cause of several. Its figures are those of the search, whose own schedule breaks the same
guarantee. A schedule of a held cell is written by hand, too. [The last section](#not-shown-as-a-schedule) lists what no schedule shows.
`
	reliedHead = `
## Believed safe, and not

What the documents rely on, and what happens. *Steps* are the commands, faults and moves of time of the schedule.

| document | relies on | explore shows | file |
|---|---|---|---|
`
	faultColumns = `| fault | verdict | needs | explore with | schedule | seconds | steps | file |
|---|---|---|---|---:|---:|---:|---|
`
	notShownHead = `
## Not shown as a schedule

| fault | why not | shown instead |
|---|---|---|
`
)
