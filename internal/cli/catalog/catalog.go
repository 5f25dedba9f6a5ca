// Package catalog lists the designs, programs, faults and other names that lockbench knows. lockbench
// list, completion and run files read the same entries. The entries come from many packages and need
// no flags, so they are not part of the command, their only user.
package catalog

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/lib/suggest"
	"github.com/lockbench/lockbench/internal/lib/wrap"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
	"github.com/lockbench/lockbench/workloads"
)

// An Entry is one line of a list. Fields that a kind does not have are empty.
type Entry struct {
	Name string `json:"name"`
	// Title describes a condition in a few words.
	Title     string            `json:"title,omitempty"`
	Summary   string            `json:"summary"`
	Source    string            `json:"source,omitempty"`
	Reacquire string            `json:"reacquire,omitempty"`
	Claims    *lockbench.Claims `json:"claims,omitempty"`
	// About has the conditions in the definition of a guarantee, Conditions the conditions that a
	// fault causes.
	About      lockbench.Conditions `json:"about,omitzero"`
	Conditions lockbench.Conditions `json:"conditions,omitzero"`
	// Faults cause a condition in runs, Explored in explore.
	Faults   []string `json:"faults,omitempty"`
	Explored []string `json:"explored,omitempty"`
	// Usual is a fault with its default settings.
	Usual string `json:"usual,omitempty"`
	// When describes when a fault occurs in a live run.
	When string `json:"when,omitempty"`
	// Drivers run a program: run, explore, locktest.
	Drivers string `json:"drivers,omitempty"`
	// Unit is the unit of a metric.
	Unit string `json:"unit,omitempty"`
}

// kinds are the kinds of lists.
var kinds = []struct {
	name string
	list func() []Entry
}{
	{"designs", Designs},
	{"programs", Programs},
	{"workloads", Workloads},
	{"scenarios", Scenarios},
	{"faults", Faults},
	{"guarantees", Guarantees},
	{"conditions", Conditions},
	{"metrics", Metrics},
}

// Kinds returns the names of the lists.
func Kinds() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// List writes the list of a kind.
func List(w io.Writer, kind string, asJSON, verbose bool) error {
	for _, k := range kinds {
		switch {
		case k.name != kind:
		case asJSON:
			enc := json.NewEncoder(w)
			enc.SetIndent("", "  ")
			enc.SetEscapeHTML(false)
			return enc.Encode(k.list())
		default:
			return printList(w, k.list(), verbose)
		}
	}
	return suggest.Unknown("list", kind, Kinds())
}

// printList writes each name with its texts beside it, each of which begins a line of [wrap.Width].
func printList(w io.Writer, entries []Entry, verbose bool) error {
	widest := 0
	for i := range entries {
		widest = max(widest, len(entries[i].Name))
	}
	var list strings.Builder
	for i := range entries {
		l := &entries[i]
		beside := fmt.Sprintf("%-*s", widest, l.Name)
		for _, text := range l.texts() {
			for _, line := range wrap.Lines(text, wrap.Width-widest-2, 2) {
				fmt.Fprintln(&list, beside+"  "+line)
				beside = strings.Repeat(" ", widest)
			}
		}
		if verbose && l.Claims != nil {
			list.WriteString(l.claims())
		}
	}
	_, err := io.WriteString(w, list.String())
	return err
}

// texts returns the texts of an entry.
func (l *Entry) texts() (texts []string) {
	summary := l.Summary
	if l.Title != "" {
		summary = l.Title + ": " + summary
	}
	if l.Unit != "" {
		summary = l.Unit + ": " + summary
	}
	if l.Drivers != "" {
		summary += " (" + l.Drivers + ")"
	}
	for _, text := range []string{summary, l.about(), l.Usual, l.When, l.brought()} {
		if text != "" {
			texts = append(texts, text)
		}
	}
	if l.Source != "" {
		texts = append(texts, "from: "+l.Source)
	}
	return texts
}

func (l *Entry) about() string {
	if l.About == 0 {
		return ""
	}
	return "about @" + l.About.String()
}

// brought describes the conditions that a fault causes, or the faults that cause a condition.
func (l *Entry) brought() string {
	var parts []string
	switch {
	case l.Conditions != 0:
		for _, c := range l.Conditions.Each() {
			parts = append(parts, "@"+c.String())
		}
		return "brings " + strings.Join(parts, " ")
	case l.Usual != "":
		return "brings no condition"
	}
	if len(l.Faults) > 0 {
		parts = append(parts, "run: "+strings.Join(l.Faults, ", "))
	}
	if len(l.Explored) > 0 {
		parts = append(parts, "explore: "+strings.Join(l.Explored, ", "))
	}
	return strings.Join(parts, "; ")
}

// claims returns the terms of a design. Terms with a reason are on lines of their own.
func (l *Entry) claims() string {
	var plain, reasoned []string
	for _, term := range l.Claims.Terms() {
		if strings.Contains(term, ": ") {
			reasoned = append(reasoned, term)
			continue
		}
		plain = append(plain, term)
	}
	var text strings.Builder
	for _, term := range append([]string{"claims " + strings.Join(plain, " ")}, reasoned...) {
		for _, line := range wrap.Lines(term, wrap.Width-4, 2) {
			fmt.Fprintln(&text, "    "+line)
		}
	}
	return text.String() + "\n"
}

// Designs lists all designs, with their claims.
func Designs() []Entry {
	var all []Entry
	for _, d := range impls.All() {
		all = append(all, Entry{Name: d.Name, Summary: d.Summary, Source: d.Source, Reacquire: string(d.Reacquire), Claims: &d.Claims})
	}
	return all
}

// Programs lists the programs of clients, with the drivers that run them.
func Programs() []Entry { return programs(workloads.All()) }

// Workloads lists the programs of clients in runs.
func Workloads() []Entry { return programs(workloads.By(workloads.Live)) }

// Scenarios lists the programs of clients in explorations.
func Scenarios() []Entry { return programs(workloads.By(workloads.Explored)) }

func programs(of []workloads.Program) (all []Entry) {
	for _, p := range of {
		all = append(all, Entry{Name: p.Name, Summary: p.Summary, Drivers: p.Drivers.String()})
	}
	return all
}

// Faults lists each fault with its default settings, when it occurs, and the conditions that it
// causes.
func Faults() []Entry {
	var all []Entry
	for _, k := range fault.Kinds() {
		usual, _ := fault.Usual(k) // the kind exists
		row := fault.Of(k)
		all = append(all, Entry{Name: string(k), Summary: row.Summary, Usual: usual.String(), When: row.When(), Conditions: row.Conditions})
	}
	return all
}

// Guarantees lists the guarantees with the conditions in their definitions.
func Guarantees() []Entry {
	var all []Entry
	for _, g := range lockbench.Guarantees() {
		all = append(all, Entry{Name: string(g.Name), Summary: g.Promise, About: g.About})
	}
	return all
}

// Conditions lists each condition with the faults that cause it.
func Conditions() []Entry {
	var all []Entry
	for _, c := range lockbench.AllConditions() {
		l := Entry{Name: c.Name, Title: c.Title, Summary: c.Summary}
		for _, row := range fault.Rows() {
			if !row.Conditions.Has(c.Condition) {
				continue
			}
			if row.Live != nil {
				l.Faults = append(l.Faults, string(row.Kind))
			}
			l.Explored = append(l.Explored, fault.Names(row.Explored)...)
		}
		switch c.Condition { // no kind of fault causes them, or not alone
		case lockbench.Cancel:
			l.Explored = append(l.Explored, "--moves")
		case lockbench.Outlived:
			l.Faults, l.Explored = []string{"--stallers", "--slow"}, []string{"--moves"}
		case lockbench.ThreadDeath:
			l.Explored = []string{strings.Join(fault.Names(fault.Of(fault.Crash).Explored), " and ") + " with --threads"}
		}
		all = append(all, l)
	}
	return all
}

// Claims lists the terms that a claim may begin with.
func Claims() []Entry {
	all := append(Guarantees(), Entry{Name: "nothing", Summary: "no guarantee is claimed"})
	for _, c := range Conditions() {
		all = append(all, Entry{Name: "@" + c.Name, Summary: c.Summary})
	}
	return all
}

// Bare returns entries with names alone.
func Bare(names []string) (all []Entry) {
	for _, name := range names {
		all = append(all, Entry{Name: name})
	}
	return all
}

// Names returns the names of some entries.
func Names(all []Entry) (names []string) {
	for i := range all {
		names = append(names, all[i].Name)
	}
	return names
}

// Guards lists the kinds of guard on a store.
func Guards() []Entry {
	summaries := map[lockbench.Guard]string{
		lockbench.NoGuard:      "the store accepts every write",
		lockbench.FenceGuard:   "the store refuses fences lower than the highest so far",
		lockbench.CompareGuard: "the store refuses writes based on a version that is not its latest",
	}
	var all []Entry
	for _, g := range lockbench.Guards() {
		all = append(all, Entry{Name: string(g), Summary: summaries[g]})
	}
	return all
}

// Metrics lists every metric that thresholds can name, with its unit.
func Metrics() []Entry {
	var all []Entry
	for _, m := range thresholds.Metrics() {
		all = append(all, Entry{Name: m.Name, Summary: m.Summary, Unit: string(m.Unit)})
	}
	return all
}
