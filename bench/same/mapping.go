package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
)

// The fields of a finding that can be compared.
const (
	compareVerdict        = "verdict"
	compareClaim          = "claim"
	compareExposure       = "exposure"
	compareViolations     = "violations"
	compareAgainst        = "against"
	compareCounterexample = "counterexample"
)

var allFields = []string{compareVerdict, compareClaim, compareExposure, compareViolations, compareAgainst, compareCounterexample}

const (
	nothing = "-" // means no guarantee
	every   = "*" // means every guarantee and, after @, every set of conditions
)

// A pairing maps names of OLD to the names of NEW to compare them with. The findings of
// several names are folded to one.
type pairing struct {
	old, new []string // names, or patterns of names
	fields   []string

	// oldNames and newNames are the names that the two sides use; nil before
	// [mapping.pairs].
	oldNames, newNames []string
}

// A mapping maps the names of OLD to the names of NEW. bench/same.map describes the
// format.
type mapping struct {
	pairings []pairing
	// gone are names of OLD without a counterpart in NEW, added the reverse.
	gone, added []string
	// verdicts maps names of verdicts of OLD to NEW.
	verdicts map[string]string
	// fields are compared if a pairing has none of its own.
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

// add adds one line: two names and, optionally, the fields to compare.
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
	if err := cmp.Or(badPattern(older), badPattern(newer)); err != nil {
		return err
	}
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
		m.join(pairing{old: []string{older}, new: []string{newer}, fields: fields})
	}
	return nil
}

// join adds p, and merges all pairings that share a name.
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

// pairs returns all pairings of the names that the two sides use: the mapping's and, for
// other names, each name with itself. A name of the mapping that its side does not use is
// an error, and so is one in two pairings, which hides a mistake.
func (m mapping) pairs(older, newer []string) ([]pairing, error) {
	all := slices.Clone(m.pairings)
	ofOld, ofNew := naming{title: "OLD", used: older}, naming{title: "NEW", used: newer}
	for i, p := range all {
		all[i].oldNames, all[i].newNames = ofOld.take(p.old), ofNew.take(p.new)
		if p.fields == nil {
			all[i].fields = m.fields
		}
	}
	ofOld.take(m.gone)
	ofNew.take(m.added)
	if err := cmp.Or(ofOld.err, ofNew.err); err != nil {
		return nil, err
	}
	for _, name := range union(older, newer) {
		p := pairing{fields: m.fields}
		if ofOld.leaves(name) {
			p.old, p.oldNames = []string{name}, []string{name}
		}
		if ofNew.leaves(name) {
			p.new, p.newNames = []string{name}, []string{name}
		}
		if p.old != nil || p.new != nil {
			all = append(all, p)
		}
	}
	return all, nil
}

// A naming hands out the names that one side uses.
type naming struct {
	title       string
	used, taken []string
	err         error // the first
}

// take returns the names that match one of the patterns.
func (n *naming) take(patterns []string) (names []string) {
	for _, p := range patterns {
		found := slices.DeleteFunc(slices.Clone(n.used), func(name string) bool { return !matches(p, name) })
		if len(found) == 0 {
			n.fail("the mapping names %q, of which %s says nothing; hint: it has %s", p, n.title, strings.Join(n.used, ", "))
		}
		names = union(names, found)
	}
	for _, name := range names {
		if slices.Contains(n.taken, name) {
			n.fail("two lines of the mapping match %q of %s; hint: exclude it from one of them, like exclusion@*!skew", name, n.title)
		}
	}
	n.taken = append(n.taken, names...)
	return names
}

func (n *naming) fail(format string, args ...any) {
	if n.err == nil {
		n.err = fmt.Errorf(format, args...)
	}
}

// leaves reports whether the side uses name and no line of the mapping took it.
func (n *naming) leaves(name string) bool {
	return slices.Contains(n.used, name) && !slices.Contains(n.taken, name)
}

// matches reports whether a pattern matches name. A pattern is a name, or GUARANTEE@*
// with conditions that a cell must have (+skew) and must not have (!outlived).
func matches(pattern, name string) bool {
	guarantee, conditions, is := patternOf(pattern)
	if !is {
		return pattern == name
	}
	of, under, _ := strings.Cut(name, "@")
	if of != guarantee {
		return false
	}
	has := strings.Split(under, "+")
	return !slices.ContainsFunc(conditions, func(c string) bool { return slices.Contains(has, c[1:]) != (c[0] == '+') })
}

// patternOf splits a pattern into its guarantee and the conditions with their signs; is
// reports whether it is more than a name.
func patternOf(text string) (guarantee string, conditions []string, is bool) {
	guarantee, rest, is := strings.Cut(text, "@"+every)
	for rest != "" {
		end := 1 + strings.IndexAny(rest[1:], "+!")
		if end == 0 {
			end = len(rest)
		}
		conditions = append(conditions, rest[:end])
		rest = rest[end:]
	}
	return guarantee, conditions, is
}

// badPattern returns the error in a pattern.
func badPattern(text string) error {
	_, conditions, _ := patternOf(text)
	for _, c := range conditions {
		if c[0] != '+' && c[0] != '!' {
			return fmt.Errorf("%q has %q after *; hint: +skew or !skew", text, c)
		}
		if err := new(lockbench.Conditions).UnmarshalText([]byte(c[1:])); err != nil || c == "+" || c == "!" {
			return cmp.Or(err, fmt.Errorf("%q names no condition after %s; hint: %sskew", text, c, c))
		}
	}
	return nil
}
