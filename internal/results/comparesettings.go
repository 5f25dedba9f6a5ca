package results

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Difference is a setting or a part of the surroundings in which the sides differ, or
// in which the runs of a side do.
type Difference struct {
	What string `json:"what"`
	// Base and New are the values found, by commas.
	Base string `json:"base"`
	New  string `json:"new"`
	// Bars: figures measured under the two cannot be compared.
	Bars bool `json:"bars"`
}

// String says what differs.
func (d Difference) String() string {
	if d.Base == d.New {
		return fmt.Sprintf("%s differs from run to run: %s", d.What, d.Base)
	}
	return fmt.Sprintf("%s: %s -> %s", d.What, d.Base, d.New)
}

// A trait is something by which runs can differ.
type trait struct {
	what string
	bars bool
	of   func(observed) string
}

// traits are those that every run has. What the sides may be there to compare (versions,
// another server of the same kind) is told; what makes it another measurement bars.
var traits = []trait{
	{"workload", true, func(o observed) string { return o.run.Workload }},
	{"faults", true, injectedFaults},
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

// externalAddress leaves out addresses of servers that were started for one run.
func externalAddress(o observed) string {
	if o.server.Kind != "external" {
		return ""
	}
	return o.server.Address
}

// notSettings are parameters that may differ: the seed by intention, and the guard is part
// of what a design is called.
var notSettings = []string{"seed", "guard"}

// unmeasured are parameters of clients that no figure of speed has in it.
var unmeasured = []string{"stallers"}

// parameters are the traits of the workload's parameters that some run has.
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

// parameterName is a parameter as its flag is called.
func parameterName(name string) string {
	return strings.ReplaceAll(strings.TrimSuffix(name, "_ns"), "_", "-")
}

// parameter renders a parameter, also one that settings leaves out as zero.
func parameter(params map[string]any, name string) string {
	if text := Setting(params, name); text != "" {
		return text
	}
	if v, told := params[name]; told && v != nil {
		return fmt.Sprint(v)
	}
	return ""
}

// settings prints in what the sides differ, and bars speeds where that makes them
// meaningless.
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

// differ notes a difference, once for all designs that share it.
func (c *Comparison) differ(d Difference) {
	if !slices.Contains(c.Differences, d) {
		c.Differences = append(c.Differences, d)
	}
}

// values are those that runs have, each once, in order.
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

// barring names the settings that bar the comparison of speeds.
func (c *Comparison) barring() []string {
	var all []string
	for _, d := range c.Differences {
		if d.Bars {
			all = append(all, d.String())
		}
	}
	return all
}
