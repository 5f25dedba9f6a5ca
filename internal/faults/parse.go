package faults

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/suggest"
)

// Parse reads a fault: its kind and, by commas, settings that differ from the usual,
// such as "pause,p=0.05,while=held,for=3s" or "restart,at=5s". The error says which
// setting is wrong, why, and what would do.
func Parse(text string) (Fault, error) {
	name, rest, more := strings.Cut(text, ",")
	t, err := find(strings.TrimSpace(name))
	if err != nil {
		return Fault{}, err
	}
	f := t.usual
	f.Kind = t.kind
	given := map[string]bool{}
	for more {
		var setting string
		setting, rest, more = strings.Cut(rest, ",")
		name, err := f.set(t, strings.TrimSpace(setting))
		if err != nil {
			return Fault{}, fmt.Errorf("fault %s: %w", t.kind, err)
		}
		given[name] = true
	}
	if t.target == ofClient && (given["at"] || given["every"]) && !given["p"] {
		f.P = 0 // by the clock then
	}
	return f, nil
}

// settings are those that some fault has.
var settings = []string{"at", "until", "every", "p", "while", "for", "by", "n"}

// set applies a setting and returns its name.
func (f *Fault) set(t *trait, setting string) (name string, err error) {
	name, value, found := strings.Cut(setting, "=")
	if !found {
		return name, fmt.Errorf("%q is no setting; hint: name=value, such as at=2s", setting)
	}
	if !slices.Contains(settings, name) {
		return name, suggest.Unknown("setting", name, settings)
	}
	if has := t.settings(); !slices.Contains(has, name) {
		return name, fmt.Errorf("it has no setting %s; hint: it has %s", name, strings.Join(has, ", "))
	}
	return name, f.setTo(name, value)
}

// settings lists those that the kind has.
func (t *trait) settings() []string {
	has := strings.Fields(t.allowed)
	if t.target != ofProcess {
		has = append([]string{"at", "until", "every", "while"}, has...)
	}
	return has
}

func (f *Fault) setTo(name, value string) (err error) {
	switch name {
	case "at":
		f.At, err = duration(name, value)
	case "until":
		f.Until, err = duration(name, value)
	case "every":
		f.Every, err = duration(name, value)
	case "for":
		f.For, err = duration(name, value)
	case "by":
		return f.setBy(value)
	case "n":
		f.N, err = count(value)
	case "p":
		f.P, err = probability(value)
	case "while":
		return f.setWhile(value)
	}
	return err
}

// setBy reads by how much; clocks are stepped back, too.
func (f *Fault) setBy(value string) (err error) {
	back := strings.HasPrefix(value, "-") && f.Kind == ClockStep
	if back {
		value = value[1:]
	}
	if f.By, err = duration("by", value); back {
		f.By = -f.By
	}
	return err
}

func (f *Fault) setWhile(value string) error {
	switch value {
	case "held":
		f.While = Held
	case "any":
		f.While = Any
	default:
		return fmt.Errorf("while=%s is no condition; hint: while=held, or while=any", value)
	}
	return nil
}

func duration(name, value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil {
		return 0, fmt.Errorf("%s=%s is no duration; hint: %s=2s or %s=50ms", name, value, name, name)
	}
	if d < 0 {
		return 0, fmt.Errorf("%s=%s is negative; hint: 0s or more", name, value)
	}
	return d, nil
}

func count(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("n=%s is no number above 0; hint: n=1", value)
	}
	return n, nil
}

func probability(value string) (float64, error) {
	p, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(p) || p < 0 || p > 1 {
		return 0, fmt.Errorf("p=%s is no probability; hint: 0 to 1, such as p=0.01", value)
	}
	return p, nil
}

// ParseAll reads faults, and joins the errors of those that are wrong.
func ParseAll(texts []string) ([]Fault, error) {
	var all []Fault
	var errs []error
	for _, text := range texts {
		f, err := Parse(text)
		all, errs = append(all, f), append(errs, err)
	}
	return all, errors.Join(errs...)
}
