// Package figures formats durations, rates and counts for people.
package figures

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

var units = []struct {
	name string
	ns   float64
}{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}

// Compact renders ns in at most six characters: two digits below ten, else whole
// units ("850ns", "1.2ms", "340us"); from a minute on as Go durations.
func Compact(ns int64) string {
	if ns >= int64(time.Minute) {
		return time.Duration(ns).Round(time.Second).String()
	}
	for _, u := range units {
		v := float64(ns) / u.ns
		switch {
		case u.ns > 1 && v < 9.95:
			return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") + u.name
		case v < 999.5 || u.name == "s":
			return strconv.Itoa(int(math.Round(v))) + u.name
		}
	}
	return ""
}

// Exact renders ns in the precision that a counterexample needs: to the microsecond, or
// in full if it is shorter than ten microseconds.
func Exact(ns int64) string {
	d := time.Duration(ns)
	if d.Abs() >= 10*time.Microsecond {
		d = d.Round(time.Microsecond)
	}
	return strings.ReplaceAll(d.String(), "µ", "u")
}

// Moment renders a stamp as seconds since the start of the run.
func Moment(ns int64) string { return fmt.Sprintf("%.6fs", float64(ns)/1e9) }

// Duration renders ns like Compact, or a dash if nothing was measured.
func Duration(count, ns int64) string {
	if count == 0 {
		return "-"
	}
	return Compact(ns)
}

// Rate renders a rate or a ratio: one decimal below ten, else whole with thousands
// separated; a dash for zero, which means unknown.
func Rate(v float64) string {
	switch {
	case v <= 0:
		return "-"
	case v < 9.95:
		return fmt.Sprintf("%.1f", v)
	}
	return Number(int64(math.Round(v)))
}

// Number renders n with its thousands separated by commas.
func Number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural renders a count with its noun.
func Plural(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Number(n) + " " + noun
}

// Measures renders figures by name, durations as such, in the order of names. It writes
// a word that all names begin with once.
func Measures(m map[string]float64) string {
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return strings.Compare(order(a), order(b))
	})
	common := commonWord(names)
	parts := make([]string, 0, len(names))
	for _, name := range names {
		label, isTime := strings.CutSuffix(strings.TrimPrefix(name, common), "_ns")
		value := strconv.FormatFloat(m[name], 'g', 4, 64)
		if isTime {
			value = Compact(int64(m[name]))
		}
		parts = append(parts, strings.ReplaceAll(label, "_", " ")+" "+value)
	}
	if common != "" {
		return strings.TrimSuffix(common, "_") + " " + strings.Join(parts, ", ")
	}
	return strings.Join(parts, ", ")
}

// commonWord returns the first word, with its underscore, that all names share; empty
// if there is none.
func commonWord(names []string) string {
	if len(names) < 2 {
		return ""
	}
	word, _, _ := strings.Cut(names[0], "_")
	word += "_"
	for _, name := range names {
		if !strings.HasPrefix(name, word) {
			return ""
		}
	}
	return word
}

// order puts a maximum behind the percentiles of the same figure.
func order(name string) string { return strings.Replace(name, "max", "~max", 1) }

// Few renders a count in at most four characters: "412k", "1.2M".
func Few(n int64) string {
	v, unit := float64(n), ""
	for _, u := range []string{"k", "M", "G", "T"} {
		if v < 999.5 {
			break
		}
		v, unit = v/1000, u
	}
	if unit != "" && v < 9.95 {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") + unit
	}
	return fmt.Sprintf("%.0f%s", math.Round(v), unit)
}
