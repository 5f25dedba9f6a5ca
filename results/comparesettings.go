package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Difference is a setting, or a property of the surroundings, in which the sides of a comparison
// differ, or the runs of one side do.
type Difference struct {
	// What names the setting or property.
	What string `json:"what"`
	// Base and New are the values on each side, separated by commas.
	Base string `json:"base"`
	New  string `json:"new"`
	// Bars reports whether the difference makes a comparison of speeds meaningless.
	Bars bool `json:"bars"`
}

// String returns the name and the values, as "CPUs: 2 -> 4".
func (d Difference) String() string {
	if d.Base == d.New {
		return fmt.Sprintf("%s differs from run to run: %s", d.What, d.Base)
	}
	return fmt.Sprintf("%s: %s -> %s", d.What, d.Base, d.New)
}

// A trait is a property that may differ between runs. If bars is set, a difference makes speeds
// incomparable.
type trait struct {
	what string
	bars bool
	of   func(observed) string
}

// traits are the properties that are compared in every run. A difference that a comparison may be
// meant to measure, such as the version of the server, is only reported; a difference that makes
// the two sides different measurements bars speeds.
var traits = []trait{
	{"workload", true, func(o observed) string { return o.run.Workload }},
	{"faults", true, injectedFaults},
	{"stamps", true, func(o observed) string { return cmp.Or(o.run.Stamps, "driver") }},
	{"share", true, func(o observed) string { return cmp.Or(o.run.Share, "whole") }},
	{"machines", true, func(o observed) string { return strconv.Itoa(max(1, len(o.run.Machines))) }},
	{"server", true, func(o observed) string { return o.server.Kind }},
	{"server version", false, func(o observed) string { return o.server.Version }},
	{"server address", false, externalAddress},
	{"servers per lock", false, func(o observed) string { return strconv.Itoa(max(1, o.server.Count)) }},
	{"system", true, func(o observed) string { return o.env.OS + "/" + o.env.Arch }},
	{"CPUs", true, func(o observed) string { return strconv.Itoa(o.env.CPUs) }},
	{"Go", false, func(o observed) string { return o.env.Go }},
	{"lockbench", false, func(o observed) string { return o.env.Version }},
	{"explored", true, func(o observed) string { return strconv.FormatBool(o.run.Exploration != nil) }},
}

func injectedFaults(o observed) string {
	if len(o.run.Injected) == 0 {
		return strings.Join(o.run.Faults, " ")
	}
	var all []string
	for _, f := range o.run.Injected {
		all = append(all, f.Fault)
	}
	return strings.Join(all, " ")
}

// externalAddress returns the address of a server that existed before the run, empty for a server
// started for it.
func externalAddress(o observed) string {
	if o.server.Kind != "external" {
		return ""
	}
	return o.server.Address
}

// notSettings are parameters that are not compared: the seed differs on purpose, and the guard is
// part of the design's label.
var notSettings = []string{"seed", "guard"}

// unmeasured are parameters of clients that no figure of speed includes.
var unmeasured = []string{"stallers"}

// parameters returns a trait for each workload parameter that some run has.
func parameters(runs []observed) (all []trait) {
	var names []string
	for _, o := range runs {
		names = append(names, slices.Sorted(maps.Keys(o.run.Params))...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if slices.Contains(notSettings, name) {
			continue
		}
		all = append(all, trait{parameterName(name), !slices.Contains(unmeasured, name), func(o observed) string { return parameter(o.run.Params, name) }})
	}
	return all
}

// parameterName returns the name of the flag that sets a parameter.
func parameterName(name string) string {
	return strings.ReplaceAll(strings.TrimSuffix(name, "_ns"), "_", "-")
}

// parameter formats a parameter; unlike [Setting], it formats a zero as well.
func parameter(params map[string]any, name string) string {
	if text := Setting(params, name); text != "" {
		return text
	}
	if v, told := params[name]; told && v != nil {
		return fmt.Sprint(v)
	}
	return ""
}

// settings records the differences between the sides, and bars the comparison of speeds if one
// makes it meaningless, unless force is set.
func (c *Comparison) settings(force bool) {
	embedded := false
	for _, d := range c.Designs {
		both := slices.Concat(d.base, d.changed)
		for _, t := range append(parameters(both), traits...) {
			was, is := values(t, d.base), values(t, d.changed)
			if !slices.Equal(was, is) || t.bars && len(was) > 1 {
				c.differ(Difference{t.what, strings.Join(was, ", "), strings.Join(is, ", "), t.bars})
			}
		}
		embedded = embedded || slices.ContainsFunc(both, func(o observed) bool { return o.server.Kind == "embedded" })
	}
	c.SpeedsBarred = !force && len(c.barring()) > 0
	if embedded && !c.SpeedsBarred {
		c.Notes = append(c.Notes, "the speeds are the embedded server's, not the design's")
	}
}

// differ records a difference, once for all designs that have it.
func (c *Comparison) differ(d Difference) {
	if !slices.Contains(c.Differences, d) {
		c.Differences = append(c.Differences, d)
	}
}

// values returns the distinct values of a trait in some runs, sorted.
func values(t trait, runs []observed) []string {
	seen := make(map[string]bool)
	for _, o := range runs {
		v := t.of(o)
		if v == "" {
			v = "none"
		}
		seen[v] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// barring lists the differences that bar the comparison of speeds, in words.
func (c *Comparison) barring() []string {
	var all []string
	for _, d := range c.Differences {
		if d.Bars {
			all = append(all, d.String())
		}
	}
	return all
}
