package main

import (
	"fmt"
	"slices"
	"strings"
)

// A measurement is a command that both binaries run, and the rows that it fills.
type measurement struct {
	args  string                 // {server}, {history} and {replays} are placeholders
	work  func(document) float64 // the amount of work
	fixed bool                   // the command decides the amount of work
	rows  []row
}

// A row is a figure of a turn: work per second, so that more is better.
type row struct {
	name, unit string
	rate       func(turn) float64
}

// measurements has all measurements. They use the most stable flags and names. Kinds of
// faults are listed, so that a binary with more kinds does no other work.
var measurements = []measurement{
	{
		args: "run -q --server {server} --design lua-token/token --workload mutex --key-choice own --clients 50 " +
			"--hold 0s --think 0s --duration 1s --warmup 200ms --seed 1",
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

// exploring returns the measurement of a search of 8000 schedules, which is almost one second of
// work. Three clients have too many schedules for the search to come to its end.
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

// selected returns the measurements that fill the named rows; a name is a row or its verb.
// Without names it returns all.
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

// known returns an error unless all names are rows or verbs.
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

// needs reports whether a measurement uses a placeholder.
func needs(ms []measurement, what string) bool {
	return slices.ContainsFunc(ms, func(m measurement) bool { return strings.Contains(m.args, what) })
}
