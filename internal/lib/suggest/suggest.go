// Package suggest finds known names that resemble a mistyped one.
package suggest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// synonyms maps common words to names of lockbench that do not resemble them.
var synonyms = map[string]string{"redis": "server"}

// Near returns at most three of known that resemble name, the likeliest first, or only the
// synonym of name.
func Near(name string, known []string) []string {
	if ours, ok := synonyms[strings.ToLower(name)]; ok && slices.Contains(known, ours) {
		return []string{ours}
	}
	type match struct {
		name string
		like float64
	}
	var near []match
	for _, k := range known {
		like := levenshtein.Match(strings.ToLower(name), strings.ToLower(k), nil)
		if name != "" && strings.Contains(strings.ToLower(k), strings.ToLower(name)) {
			like = max(like, 0.8)
		}
		if letters(name) == letters(k) { // in another order
			like = max(like, 0.6)
		}
		if like >= 0.5 {
			near = append(near, match{k, like})
		}
	}
	slices.SortStableFunc(near, func(a, b match) int {
		switch {
		case a.like > b.like:
			return -1
		case a.like < b.like:
			return 1
		}
		return 0
	})
	var names []string
	for _, m := range near[:min(3, len(near))] {
		names = append(names, m.name)
	}
	return names
}

// letters returns the letters of name, sorted.
func letters(name string) string {
	all := []byte(strings.ToLower(name))
	slices.Sort(all)
	return string(all)
}

// Unknown returns the error for a name that is not in known. It names the kind of the name and the
// name, and hints at near matches or, if there are none, at all of known.
func Unknown(kind, name string, known []string) error {
	if near := Near(name, known); len(near) > 0 {
		return fmt.Errorf("unknown %s %q; hint: did you mean %s?", kind, name, strings.Join(near, ", "))
	}
	return fmt.Errorf("unknown %s %q; hint: known are %s", kind, name, strings.Join(known, ", "))
}
