package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// A pointList holds the values of --clients and --keys. Each pair of them is a point; every design runs
// once at each point.
type pointList struct{ clients, keys []int }

func (l *pointList) flags(f *pflag.FlagSet, usual workloads.Options) {
	intsFlag(f, &l.clients, "clients", usual.Clients, "number of clients that compete for the locks; each design runs once with each of several, separated by commas")
	intsFlag(f, &l.keys, "keys", usual.Keys, "number of locks; each design runs once with each of several, separated by commas; unless given, the key choices own and pairs derive it from --clients")
}

func intsFlag(f *pflag.FlagSet, values *[]int, name string, usual int, what string) {
	f.IntSliceVar(values, name, []int{usual}, what)
	f.Lookup(name).DefValue = strconv.Itoa(usual) // without the brackets of a list
}

// several reports whether there is more than one point.
func (l *pointList) several() bool { return len(l.clients) > 1 || len(l.keys) > 1 }

// mostPoints bounds the runs of each design.
const mostPoints = 1000

// check returns an error for a list with a value below 1 or a duplicate, and for too many points. Single
// values are checked with the other options of the workload.
func (l *pointList) check() error {
	if n := len(l.clients) * len(l.keys); n > mostPoints {
		return fmt.Errorf("%d values of clients and %d of keys: %d runs of each design; hint: at most %d", len(l.clients), len(l.keys), n, mostPoints)
	}
	for _, list := range []struct {
		flag   string
		values []int
	}{{"clients", l.clients}, {"keys", l.keys}} {
		for i, v := range list.values {
			switch {
			case v < 1:
				return fmt.Errorf("%s %d: too few for a run; hint: 1 or more", list.flag, v)
			case slices.Contains(list.values[:i], v):
				return fmt.Errorf("%s %d: it is listed twice, and a design runs once with each; hint: leave one of them out", list.flag, v)
			}
		}
	}
	return nil
}

// contended sets the most clients and the fewest keys, for the self-check: competition shows a broken
// lock.
func (l *pointList) contended(o *workloads.Options) {
	o.Clients, o.Keys = slices.Max(l.clients), slices.Min(l.keys)
}

// times returns every subject at every point. If keys are not given, o has their number, or zero to
// derive it from the clients.
func (l *pointList) times(subjects []runner.Subject, o workloads.Options) (all []runner.Subject) {
	if !l.several() {
		return subjects
	}
	all = make([]runner.Subject, 0, len(subjects)*len(l.clients)*len(l.keys))
	for _, of := range subjects {
		for _, keys := range l.keys {
			if len(l.keys) == 1 {
				keys = o.Keys
			}
			for _, clients := range l.clients {
				of.Variant = l.variant(clients, keys)
				of.Change = func(o *workloads.Options) { o.Clients, o.Keys = clients, keys }
				all = append(all, of)
			}
		}
	}
	return all
}

// variant names a point by the values of the lists that have several.
func (l *pointList) variant(clients, keys int) string {
	var parts []string
	if len(l.clients) > 1 {
		parts = append(parts, fmt.Sprintf("clients %d", clients))
	}
	if len(l.keys) > 1 {
		parts = append(parts, fmt.Sprintf("keys %d", keys))
	}
	return strings.Join(parts, " ")
}
