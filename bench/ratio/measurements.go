package main

import (
	"fmt"
	"slices"
	"strings"
)

// A measurement is a command that both binaries run, and the rows that it fills.
type measurement struct {
	args  string                 // {server}, {history} and {replays} stand for what is in place
	work  func(document) float64 // how much was done
	fixed bool                   // the command decides how much work there is
	rows  []row
}

// A row is a figure of a turn: work per second, so that more is better.
type row struct {
	name, unit string
	rate       func(turn) float64
}

// measurements are all there are. Their flags and names are those that change least. Kinds of
// faults are named, so that a binary that knows more of them does no other work.
var measurements = []measurement{
	{
		args: "run -q --server {server} --design lua-token/token --workload mutex --key-choice own --clients 50 " +
			"--hold 0s --think 0s --duration 2s --warmup 200ms --seed 1",
		work: document.grants,
		rows: []row{{"run-wall", "pairs/s", turn.perMeasuredSecond}, {"run-cpu", "pairs/cpu-s", turn.perProcessorSecond}},
	}, {
		args:  "check {history}",
		work:  document.operations,
		fixed: true,
		rows:  []row{{"check-wall", "ops/s", turn.perSecond}, {"check-cpu", "ops/cpu-s", turn.perProcessorSecond}},
	},
	exploring("explore-orders", "lua-token/token --faults 0"),
	exploring("explore-faults", "lua-token/token --faults 1 --kinds die,pause,lost-reply"),
	exploring("explore-broken", "setnx-getset/naive --faults 1 --kinds die,pause,lost-reply"),
}

// exploring returns the measurement of a search of 8000 schedules, which is more than one
// second of work. Three clients have too many schedules for the search to come to its end.
func exploring(name, what string) measurement {
	return measurement{
		args:  "explore -q " + what + " --scenario contend,update --clients 3 --schedules 8000 --seed 1 --save {replays}",
		work:  document.schedules,
		fixed: true,
		rows:  []row{{name, "schedules/cpu-s", turn.perProcessorSecond}},
	}
}

// verb is the word before the dash.
func (r row) verb() string {
	verb, _, _ := strings.Cut(r.name, "-")
	return verb
}

// selected returns what fills the rows that are named, by themselves or by their verb; all
// rows where none is.
func selected(names string) ([]measurement, error) {
	if names == "" {
		return measurements, nil
	}
	wanted := strings.Split(names, ",")
	if err := known(wanted); err != nil {
		return nil, err
	}
	var chosen []measurement
	for _, m := range measurements {
		m.rows = slices.DeleteFunc(slices.Clone(m.rows), func(r row) bool {
			return !slices.Contains(wanted, r.name) && !slices.Contains(wanted, r.verb())
		})
		if len(m.rows) > 0 {
			chosen = append(chosen, m)
		}
	}
	return chosen, nil
}

// known returns an error unless all names are those of rows or verbs.
func known(names []string) error {
	var valid []string
	for _, m := range measurements {
		for _, r := range m.rows {
			valid = append(valid, r.verb(), r.name)
		}
	}
	slices.Sort(valid)
	valid = slices.Compact(valid)
	for _, name := range names {
		if !slices.Contains(valid, name) {
			return fmt.Errorf("no row is called %q; hint: rows and verbs are %s", name, strings.Join(valid, ", "))
		}
	}
	return nil
}

// needs reports whether a measurement asks for something.
func needs(ms []measurement, what string) bool {
	return slices.ContainsFunc(ms, func(m measurement) bool { return strings.Contains(m.args, what) })
}
