package fault

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
)

var update = flag.Bool("update", false, "rewrite the tables of faults in docs/design")

// TestEveryRowIsWhole: a row has its description, its conditions and cells or the reasons for none,
// its ways of injection, and its events in a history.
func TestEveryRowIsWhole(t *testing.T) {
	known := map[Kind]bool{}
	for _, row := range rows {
		for _, complaint := range row.complaints() {
			t.Errorf("%s %s", row.Kind, complaint)
		}
		for _, name := range slices.Compact(append([]Kind{row.Kind}, row.Explored...)) {
			if known[name] {
				t.Errorf("%s is the name of two faults", name)
			}
			known[name] = true
		}
	}
}

func (r *Row) complaints() (all []string) {
	want := func(is bool, format string, args ...any) {
		if !is {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	want(r.Summary != "", "says nothing of what happens; hint: Summary")
	want(r.Live != nil || len(r.Explored) > 0, "is done by nobody; hint: Live, or Explored")
	want((r.Conditions == 0) != (r.Untouched == ""), "brings %q and is untouched because %q; want one of the two", r.Conditions, r.Untouched)
	why := r.Untouched + r.Unexercised
	want((len(r.Exercises) == 0) != (why == ""), "exercises %v and does not because %q; want one of the two", r.Exercises, why)
	brings := r.Conditions
	if brings.Has(lockbench.Pause) {
		brings |= lockbench.Outlived // a paused client outlives its lease
	}
	for _, cell := range r.Exercises {
		want(cell.Under != 0 && brings.Has(cell.Under), "exercises %s, and brings %q", cell, brings)
	}
	if r.Live != nil && r.Target == Client {
		want(r.Live.On != "" && r.Live.Usual.P > 0, "says not on which occasions of clients it occurs; hint: On, and a usual P")
	}
	if r.Live != nil && r.Target == Server {
		want(r.Live.Usual.While == Held, "occurs at any time; hint: While: Held, for it to meet a lock right after a grant")
	}
	want(len(r.Records) > 0, "leaves nothing in a history; hint: Records")
	for _, note := range r.Records {
		event, is := byNote[note]
		want(is, "records %q, which is no event; hint: a row of events (events.go)", note)
		want(r.Conditions.Has(event.Brings), "records %s, which brings %s, and brings %q", note, event.Brings, r.Conditions)
	}
	return all
}

// TestEveryEventIsRecorded: an event belongs to a fault, except for events with any cause,
// standstills, and incidents of a user's server; and each beginning has an event that ends it.
func TestEveryEventIsRecorded(t *testing.T) {
	begun := map[string]int{}
	for _, e := range events {
		if e.Says == "" {
			t.Errorf("%s says nothing of what happened", e.Note)
		}
		if (e.Line != "") != (e.Phase == Begins || e.Phase == Ends) {
			t.Errorf("%s is on the line %q; want one of what begins or ends", e.Note, e.Line)
		}
		switch e.Phase {
		case Begins:
			begun[e.Line]++
		case Ends:
			begun[e.Line]--
		}
		if len(recordedBy(e.Note)) == 0 && e.Note != TakenAway && e.Act != StandsStill && e.Act != Passes && e.Line != Loss {
			t.Errorf("no row of the table records %s", e.Note)
		}
	}
	for line, n := range begun {
		if n != 0 {
			t.Errorf("what begins on the line %s does not end, or the other way round", line)
		}
	}
}

// recordedBy lists the faults that record an event.
func recordedBy(note string) (names []string) {
	for _, row := range rows {
		if slices.Contains(row.Records, note) {
			names = append(names, string(row.Kind))
		}
	}
	return names
}

// TestPapers compares the tables of the papers with the table of faults.
func TestPapers(t *testing.T) {
	for path, want := range map[string]string{
		"../../docs/design/guarantees.md": rowsAsText(),
		"../../docs/design/faults.md":     eventsAsText(),
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, begun := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), "<!-- faults -->\n")
		got, after, ended := strings.Cut(rest, "<!-- /faults -->\n")
		if !begun || !ended {
			t.Fatalf("%s has no table of faults", path)
		}
		if *update {
			if err := os.WriteFile(path, []byte(before+"<!-- faults -->\n"+want+"<!-- /faults -->\n"+after), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%s (-got +want), -update rewrites it:\n%s", path, diff)
		}
	}
}

func rowsAsText() string {
	var b strings.Builder
	b.WriteString("| fault | befalls | occurs in a live run | brings | exercises | explored as |\n|---|---|---|---|---|---|\n")
	for _, row := range rows {
		brings, explored := strings.ReplaceAll(row.Conditions.String(), "+", ", "), strings.Join(Names(row.Explored), ", ")
		if row.Untouched != "" {
			brings = "none: " + row.Untouched
		}
		var cells []string
		for _, cell := range row.Exercises {
			cells = append(cells, cell.String())
		}
		exercises := strings.Join(cells, ", ")
		if row.Unexercised != "" {
			exercises = "none: " + row.Unexercised
		}
		if row.Live == nil {
			explored += " (not in live runs)"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", row.Kind, row.Target, row.When(), brings, exercises, explored)
	}
	return b.String()
}

func eventsAsText() string {
	var b strings.Builder
	b.WriteString("| event | what happened | brings | recorded by |\n|---|---|---|---|\n")
	for _, e := range events {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", e.Note, e.Says, strings.ReplaceAll(e.Brings.String(), "+", ", "), strings.Join(recordedBy(e.Note), ", "))
	}
	return b.String()
}

// TestWhen: the condition that each target waits for, in the words of the tables of faults.
func TestWhen(t *testing.T) {
	for kind, want := range map[Kind]string{
		Crash:     "at a command, in the middle of a call, by chance and every half second at one of a holder",
		Pause:     "after a grant, or before a command of a client that holds a lock, by chance and every half second",
		Restart:   "right after a grant",
		Failover:  "right after a grant that the replica does not have",
		Slow:      "while a client of the process holds a lock",
		Skew:      "from the start of each process on",
		SlowReply: "",
	} {
		if got := Of(kind).When(); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}
