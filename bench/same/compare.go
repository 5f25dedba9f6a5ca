package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// A comparison is the result of comparing two sides.
type comparison struct {
	differences []string
	// byName counts the differences of each cell, of each pairing of several, and of exit
	// codes.
	byName map[string]int
	// histories and findings count the compared ones.
	histories, findings int
}

// compare compares the judgements of two sides.
func compare(older, newer judgements, m mapping) (comparison, error) {
	c := comparison{byName: map[string]int{}}
	pairs, err := m.pairs(older.cells(), newer.cells())
	if err != nil {
		return c, err
	}
	for _, name := range union(slices.Sorted(maps.Keys(older)), slices.Sorted(maps.Keys(newer))) {
		a, inOld := older[name]
		b, inNew := newer[name]
		if !inOld || !inNew {
			c.differ(name, "history", "only "+oneOf(inOld, "OLD", "NEW")+" has it")
			continue
		}
		c.histories++
		c.exits(name, a, b)
		for _, p := range pairs {
			c.pair(name, p, m.translate(a.findings), b.findings)
		}
	}
	if c.findings == 0 {
		return c, fmt.Errorf("no finding was compared, of %d histories; hint: does the mapping leave any cell, and do both sides judge the same corpus?", c.histories)
	}
	return c, nil
}

// translate gives verdicts of OLD their names in NEW.
func (m mapping) translate(from map[string]finding) map[string]finding {
	out := map[string]finding{}
	for g, f := range from {
		if name, ok := m.verdicts[f.verdict]; ok {
			f.verdict = name
		}
		out[g] = f
	}
	return out
}

func (c *comparison) differ(history, name, what string) {
	c.byName[name]++
	c.differences = append(c.differences, fmt.Sprintf("%s %s: %s", history, name, what))
}

// exits compares the results for the whole history. The reason why one cannot be judged is
// shown and not compared, because words may change.
func (c *comparison) exits(history string, a, b judgement) {
	var what []string
	if a.exit != b.exit {
		what = append(what, fmt.Sprintf("%d -> %d", a.exit, b.exit))
	}
	if a.partial != b.partial {
		what = append(what, fmt.Sprintf("partial %t -> %t", a.partial, b.partial))
	}
	if (len(a.findings) == 0) != (len(b.findings) == 0) {
		what = append(what, fmt.Sprintf("only %s judges it; the other: %s", oneOf(len(a.findings) > 0, "OLD", "NEW"), a.said+b.said))
	}
	if len(what) > 0 {
		c.differ(history, exitName, strings.Join(what, ", "))
	}
}

// pair compares the findings of one pairing. exits reports a history that one side could
// not judge.
func (c *comparison) pair(history string, p pairing, older, newer map[string]finding) {
	if len(older) == 0 || len(newer) == 0 {
		return
	}
	a, b := pick(older, p.oldNames), pick(newer, p.newNames)
	mapped := len(p.old) > 0 && len(p.new) > 0 && !slices.Equal(p.old, p.new)
	switch {
	case len(a) == 0 && len(b) == 0:
	case len(a) == 0 && !mapped:
		c.differ(history, p.name(), "only NEW says: "+fold(b).String())
	case len(b) == 0 && !mapped:
		c.differ(history, p.name(), "only OLD says: "+fold(a).String())
	default:
		c.findings++
		if what := changes(fold(a), fold(b), p.fields); len(what) > 0 {
			c.differ(history, p.name(), strings.Join(what, ", "))
		}
	}
}

func pick(from map[string]finding, names []string) (found []finding) {
	for _, name := range names {
		if f, ok := from[name]; ok {
			found = append(found, f)
		}
	}
	return found
}

// name is the name of p in differences: the common name, or the names in OLD and in NEW;
// for several the names in OLD.
func (p pairing) name() string {
	older, newer := strings.Join(p.old, ","), strings.Join(p.new, ",")
	switch {
	case older == newer, len(p.old)+len(p.new) > 2, newer == "":
		return older
	case older == "":
		return newer
	}
	return older + "=>" + newer
}

// changes lists the differences of some fields.
func changes(a, b finding, fields []string) (what []string) {
	for _, f := range []struct {
		name     string
		old, new any
	}{
		{compareVerdict, a.verdict, b.verdict},
		{compareClaim, a.claimed, b.claimed},
		{compareViolations, a.violations, b.violations},
		{compareAgainst, a.against, b.against},
		{compareExposure, a.exposure, b.exposure},
		{compareCounterexample, a.evidence(), b.evidence()},
	} {
		if f.old != f.new && slices.Contains(fields, f.name) {
			what = append(what, fmt.Sprintf("%s %v -> %v", f.name, f.old, f.new))
		}
	}
	return what
}

// evidence describes the clients and the key of the clearest violation.
func (f finding) evidence() string {
	if f.key == "" && f.clients == "" {
		return "none"
	}
	return fmt.Sprintf("%q by %s", f.key, f.clients)
}

func oneOf(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// show prints the differences, and their counts.
func (c comparison) show(w io.Writer) {
	for _, d := range c.differences {
		fmt.Fprintln(w, d)
	}
	fmt.Fprintf(w, "%d findings of %d histories and replays were compared: ", c.findings, c.histories)
	if len(c.differences) == 0 {
		fmt.Fprintln(w, "nothing differs")
		return
	}
	var counts []string
	for _, name := range slices.Sorted(maps.Keys(c.byName)) {
		counts = append(counts, fmt.Sprintf("%s %d", name, c.byName[name]))
	}
	fmt.Fprintf(w, "%d differ (%s)\n", len(c.differences), strings.Join(counts, ", "))
}
