package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/explore"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/faults"
	"github.com/lockbench/lockbench/internal/suggest"
	"github.com/lockbench/lockbench/workloads"
)

// listing is one line of a list. What a kind does not have is empty.
type listing struct {
	Name string `json:"name"`
	// Title says in a few words what a condition is.
	Title     string            `json:"title,omitempty"`
	Summary   string            `json:"summary"`
	Source    string            `json:"source,omitempty"`
	Reacquire string            `json:"reacquire,omitempty"`
	Claims    *lockbench.Claims `json:"claims,omitempty"`
	// About are the conditions that a guarantee speaks of itself, Conditions those that a
	// fault brings.
	About      lockbench.Conditions `json:"about,omitzero"`
	Conditions lockbench.Conditions `json:"conditions,omitzero"`
	// Faults bring a condition in runs, Explored in explore.
	Faults   []string `json:"faults,omitempty"`
	Explored []string `json:"explored,omitempty"`
	// Usual is a fault as it is unless its settings are given.
	Usual string `json:"usual,omitempty"`
	// Unit is that of a metric.
	Unit string `json:"unit,omitempty"`
}

// kinds are what can be listed.
var kinds = []struct {
	name string
	list func() []listing
}{
	{"designs", listDesigns},
	{"workloads", listWorkloads},
	{"scenarios", listScenarios},
	{"faults", listFaults},
	{"guarantees", listGuarantees},
	{"conditions", listConditions},
	{"metrics", listMetrics},
}

func newList() *cobra.Command {
	var asJSON, verbose bool
	cmd := &cobra.Command{
		Use:       "list designs|workloads|scenarios|faults|guarantees|conditions|metrics",
		Short:     "List what there is to run and to hold a lock to",
		ValidArgs: kindNames(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("nothing named to list; hint: one of %s", strings.Join(kindNames(), ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return list(cmd.OutOrStdout(), args[0], asJSON, verbose)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON array")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "designs: with their claims, and the reasons of exceptions")
	return cmd
}

func kindNames() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

func list(w io.Writer, kind string, asJSON, verbose bool) error {
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
	return suggest.Unknown("list", kind, kindNames())
}

func printList(w io.Writer, lines []listing, verbose bool) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var errs []error
	for i := range lines {
		l := &lines[i]
		_, err := fmt.Fprintln(tab, strings.Join(l.columns(), "\t"))
		errs = append(errs, err)
		if verbose && l.Claims != nil {
			_, err := fmt.Fprintln(tab, l.claims())
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, tab.Flush())...)
}

// columns are those of a table of such lines.
func (l *listing) columns() []string {
	columns := []string{l.Name}
	for _, text := range []string{l.Source, l.Unit, l.Title, l.Summary, l.Usual, l.about(), l.brought()} {
		if text != "" {
			columns = append(columns, text)
		}
	}
	return columns
}

func (l *listing) about() string {
	if l.About == 0 {
		return ""
	}
	return "about @" + l.About.String()
}

// brought says what conditions a fault brings, or what brings a condition.
func (l *listing) brought() string {
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

// claims are the terms of a design, those that have a reason on lines of their own.
func (l *listing) claims() string {
	var plain []string
	text := ""
	for _, term := range l.Claims.Terms() {
		if strings.Contains(term, ": ") {
			text += "\n    " + term
			continue
		}
		plain = append(plain, term)
	}
	return "    claims " + strings.Join(plain, " ") + text + "\n"
}

func listDesigns() []listing {
	var all []listing
	for _, d := range impls.All() {
		all = append(all, listing{Name: d.Name, Summary: d.Summary, Source: d.Source, Reacquire: string(d.Reacquire), Claims: &d.Claims})
	}
	return all
}

func listWorkloads() []listing {
	var all []listing
	for _, w := range workloads.All() {
		all = append(all, listing{Name: w.Name, Summary: w.Summary})
	}
	return all
}

func listScenarios() []listing {
	var all []listing
	for _, s := range explore.Scenarios() {
		all = append(all, listing{Name: s.Name, Summary: s.Summary})
	}
	return all
}

// listFaults lists each fault with its usual settings and the conditions that it brings.
func listFaults() []listing {
	var all []listing
	for _, k := range faults.Kinds() {
		usual, _ := faults.Usual(k) // of a kind that there is
		all = append(all, listing{Name: string(k), Summary: k.Summary(), Usual: usual.String(), Conditions: faults.Conditions([]faults.Fault{usual})})
	}
	return all
}

func listGuarantees() []listing {
	var all []listing
	for _, g := range lockbench.Guarantees() {
		all = append(all, listing{Name: string(g.Name), Summary: g.Promise, About: g.About})
	}
	return all
}

// listConditions lists each condition with the faults that bring it.
func listConditions() []listing {
	var all []listing
	for _, c := range lockbench.AllConditions() {
		l := listing{Name: c.Name, Title: c.Title, Summary: c.Summary}
		for _, k := range faults.Kinds() {
			if faults.Conditions([]faults.Fault{{Kind: k}}).Has(c.Condition) {
				l.Faults = append(l.Faults, string(k))
			}
		}
		for _, k := range explore.FaultKinds() {
			if k.Conditions().Has(c.Condition) {
				l.Explored = append(l.Explored, string(k))
			}
		}
		switch c.Condition { // which no kind of fault brings, or not alone
		case lockbench.Cancel:
			l.Explored = append(l.Explored, "--moves")
		case lockbench.Outlived:
			l.Faults, l.Explored = []string{"--slow", "--slow-keys"}, []string{"--moves"}
		case lockbench.ThreadDeath:
			l.Explored = []string{string(explore.DieBefore) + " and " + string(explore.DieAfter) + " with --threads"}
		}
		all = append(all, l)
	}
	return all
}
