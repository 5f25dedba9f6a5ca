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
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/suggest"
	"github.com/lockbench/lockbench/workloads"
)

// listing is one line of a list. What a kind does not have is empty.
type listing struct {
	Name      string                `json:"name"`
	Summary   string                `json:"summary"`
	Source    string                `json:"source,omitempty"`
	Reacquire string                `json:"reacquire,omitempty"`
	Claims    []lockbench.Guarantee `json:"claims,omitempty"`
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
	{"metrics", listMetrics},
}

func newList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:       "list designs|workloads|scenarios|faults|guarantees|metrics",
		Short:     "List what there is to run and to hold a lock to",
		ValidArgs: kindNames(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("nothing named to list; hint: one of %s", strings.Join(kindNames(), ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return list(cmd.OutOrStdout(), args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON array")
	return cmd
}

func kindNames() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

func list(w io.Writer, kind string, asJSON bool) error {
	for _, k := range kinds {
		switch {
		case k.name != kind:
		case asJSON:
			enc := json.NewEncoder(w)
			enc.SetIndent("", "  ")
			enc.SetEscapeHTML(false)
			return enc.Encode(k.list())
		default:
			return printList(w, k.list())
		}
	}
	return suggest.Unknown("list", kind, kindNames())
}

func printList(w io.Writer, lines []listing) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var errs []error
	for _, l := range lines {
		text := l.Name + "\t" + l.Summary
		if l.Source != "" {
			text = l.Name + "\t" + l.Source + "\t" + l.Summary
		}
		if l.Unit != "" {
			text = l.Name + "\t" + l.Unit + "\t" + l.Summary
		}
		if l.Usual != "" {
			text += "\t" + l.Usual
		}
		_, err := fmt.Fprintln(tab, text)
		errs = append(errs, err)
	}
	return errors.Join(append(errs, tab.Flush())...)
}

func listDesigns() []listing {
	var all []listing
	for _, d := range impls.All() {
		all = append(all, listing{Name: d.Name, Summary: d.Summary, Source: d.Source, Reacquire: string(d.Reacquire), Claims: d.Claims})
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

// listFaults tells each fault with its usual settings.
func listFaults() []listing {
	var all []listing
	for _, k := range faults.Kinds() {
		usual, _ := faults.Usual(k) // of a kind that there is
		all = append(all, listing{Name: string(k), Summary: k.Summary(), Usual: usual.String()})
	}
	return all
}

func listGuarantees() []listing {
	var all []listing
	for _, g := range lockbench.Guarantees() {
		all = append(all, listing{Name: string(g.Name), Summary: g.HoldsWhen})
	}
	return all
}
