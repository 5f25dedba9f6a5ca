package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// What of a finding is compared.
const (
	compareVerdict    = "verdict"
	compareClaim      = "claim"
	compareExposure   = "exposure"
	compareViolations = "violations"
	compareWitness    = "witness"
)

var allFields = []string{compareVerdict, compareClaim, compareExposure, compareViolations, compareWitness}

const (
	nothing = "-" // stands for no guarantee
	every   = "*" // stands for every guarantee
)

// A pairing says which guarantees of OLD are compared with which of NEW. Of several the
// findings are folded to one.
type pairing struct {
	old, new []string
	fields   []string
}

// A mapping says what the names of OLD are called by NEW. bench/same.map describes the
// format.
type mapping struct {
	pairings []pairing
	// gone are names of OLD that NEW has nothing for, added the other way round.
	gone, added []string
	// verdicts are names of verdicts, of OLD to NEW.
	verdicts map[string]string
	// fields are compared where a pairing does not say.
	fields []string
}

func readMapping(path string) (mapping, error) {
	if path == "" {
		return parseMapping(strings.NewReader(""))
	}
	f, err := os.Open(path)
	if err != nil {
		return mapping{}, fmt.Errorf("read the mapping: %w; hint: bench/same.map is an example", err)
	}
	defer f.Close()
	m, err := parseMapping(f)
	if err != nil {
		return mapping{}, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func parseMapping(r io.Reader) (mapping, error) {
	m := mapping{verdicts: map[string]string{}, fields: allFields}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if len(strings.Fields(text)) == 0 {
			continue
		}
		if err := m.add(strings.Fields(text)); err != nil {
			return mapping{}, fmt.Errorf("line %d %q: %w", n, lines.Text(), err)
		}
	}
	return m, lines.Err()
}

// add adds one line: two names and, optionally, what is compared.
func (m *mapping) add(words []string) error {
	if len(words) == 3 && words[0] == "verdict" {
		m.verdicts[words[1]] = words[2]
		return nil
	}
	if len(words) < 2 || len(words) > 3 {
		return fmt.Errorf("%d words; hint: OLD NEW [FIELDS], or verdict OLD NEW", len(words))
	}
	var fields []string
	if len(words) == 3 {
		fields = strings.Split(words[2], ",")
	}
	for _, f := range fields {
		if !slices.Contains(allFields, f) {
			return fmt.Errorf("%q is nothing to compare; hint: some of %s", f, strings.Join(allFields, ","))
		}
	}
	return m.pair(words[0], words[1], fields)
}

func (m *mapping) pair(older, newer string, fields []string) error {
	switch {
	case older == every && newer == every:
		m.fields = fields
		if fields == nil {
			return fmt.Errorf("it says nothing; hint: %s %s FIELD,FIELD", every, every)
		}
	case older == every || newer == every || older == nothing && newer == nothing:
		return fmt.Errorf("%s and %s are no pair; hint: a name on one side at least", older, newer)
	case newer == nothing:
		m.gone = append(m.gone, older)
	case older == nothing:
		m.added = append(m.added, newer)
	default:
		m.join(pairing{[]string{older}, []string{newer}, fields})
	}
	return nil
}

// join adds p, and makes one of all pairings that share a name.
func (m *mapping) join(p pairing) {
	shares := func(q pairing) bool { return common(p.old, q.old) || common(p.new, q.new) }
	for i := slices.IndexFunc(m.pairings, shares); i >= 0; i = slices.IndexFunc(m.pairings, shares) {
		q := m.pairings[i]
		p.old, p.new = union(q.old, p.old), union(q.new, p.new)
		if p.fields == nil {
			p.fields = q.fields
		}
		m.pairings = slices.Delete(m.pairings, i, i+1)
	}
	m.pairings = append(m.pairings, p)
}

func common(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// pairs are all pairings of the names that the two sides use: those of the mapping and,
// for what it does not name, each name with itself. A name of the mapping that its side
// does not use is an error: it hides a mistake.
func (m mapping) pairs(older, newer []string) ([]pairing, error) {
	namedOld, namedNew := slices.Clone(m.gone), slices.Clone(m.added)
	all := slices.Clone(m.pairings)
	for i, p := range all {
		namedOld, namedNew = append(namedOld, p.old...), append(namedNew, p.new...)
		if p.fields == nil {
			all[i].fields = m.fields
		}
	}
	if err := cmp.Or(known("OLD", namedOld, older), known("NEW", namedNew, newer)); err != nil {
		return nil, err
	}
	for _, name := range union(older, newer) {
		p := pairing{fields: m.fields}
		if slices.Contains(older, name) && !slices.Contains(namedOld, name) {
			p.old = []string{name}
		}
		if slices.Contains(newer, name) && !slices.Contains(namedNew, name) {
			p.new = []string{name}
		}
		if p.old != nil || p.new != nil {
			all = append(all, p)
		}
	}
	return all, nil
}

// known fails for a name that the side does not use.
func known(title string, named, used []string) error {
	for _, name := range named {
		if !slices.Contains(used, name) {
			return fmt.Errorf("the mapping names %q, of which %s says nothing; hint: it has %s", name, title, strings.Join(used, ", "))
		}
	}
	return nil
}
