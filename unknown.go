package lockbench

import (
	"fmt"
	"slices"
	"strings"
)

// unknown returns the error for a name that is not in known. It suggests the nearest name and
// lists all. (This package imports the standard library only.)
func unknown(what, name string, known []string) error {
	nearest := slices.MinFunc(known, func(a, b string) int { return edits(name, a) - edits(name, b) })
	if edits(name, nearest) <= len(nearest)/2 {
		return fmt.Errorf("unknown %s %q; hint: did you mean %s? known are %s", what, name, nearest, strings.Join(known, ", "))
	}
	return fmt.Errorf("unknown %s %q; hint: known are %s", what, name, strings.Join(known, ", "))
}

// misplaced returns the error for a condition in the place of a guarantee, or the reverse. where is
// an example of its right place.
func misplaced(what, name, is, where string, known []string) error {
	return fmt.Errorf("unknown %s %q; hint: it is a %s, as in %s; known are %s", what, name, is, where, strings.Join(known, ", "))
}

// edits returns the edit distance of two names (Levenshtein, 1965).
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
