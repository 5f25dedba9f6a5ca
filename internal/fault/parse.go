package fault

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/lib/suggest"
)

// Parse reads a fault: its kind and, after commas, settings that differ from the
// defaults, such as "pause,p=0.05,while=held,for=3s" or "restart,at=5s". The error
// names the wrong setting and the reason, with a hint.
func Parse(text string) (Fault, error) {
	name, rest, more := strings.Cut(text, ",")
	row, err := find(strings.TrimSpace(name))
	if err != nil {
		return Fault{}, err
	}
	f := row.Live.Usual
	f.Kind = row.Kind
	given := map[string]bool{}
	for more {
		var setting string
		setting, rest, more = strings.Cut(rest, ",")
		name, err := f.set(row, strings.TrimSpace(setting))
		if err != nil {
			return Fault{}, fmt.Errorf("fault %s: %w", row.Kind, err)
		}
		given[name] = true
	}
	if row.Target == Client && (given["at"] || given["every"]) && !given["p"] {
		f.P = 0 // it occurs by the clock
	}
	return f, nil
}

// settings are all settings, though no fault has all.
var settings = []string{"at", "until", "every", "p", "while", "for", "by", "n"}

// set applies a setting and returns its name.
func (f *Fault) set(row *Row, setting string) (name string, err error) {
	name, value, found := strings.Cut(setting, "=")
	if !found {
		return name, fmt.Errorf("%q is no setting; hint: name=value, such as at=2s", setting)
	}
	if !slices.Contains(settings, name) {
		return name, suggest.Unknown("setting", name, settings)
	}
	if has := row.settings(); !slices.Contains(has, name) {
		return name, fmt.Errorf("it has no setting %s; hint: it has %s", name, strings.Join(has, ", "))
	}
	return name, f.setTo(row.Live.setting(name), name, value)
}

// settings lists the settings of the kind.
func (r *Row) settings() (has []string) {
	if r.Target != Process {
		has = []string{"at", "until", "every", "while"}
	}
	for _, s := range r.Live.Settings {
		has = append(has, s.Name)
	}
	return has
}

func (f *Fault) setTo(s Setting, name, value string) (err error) {
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
		f.By, err = signed(s, name, value)
	case "n":
		f.N, err = count(value)
	case "p":
		f.P, err = probability(value)
	case "while":
		return f.setWhile(value)
	}
	return err
}

// signed reads a duration, which may be negative if the setting is signed.
func signed(s Setting, name, value string) (time.Duration, error) {
	back, is := strings.CutPrefix(value, "-")
	if !is || !s.Signed {
		return duration(name, value)
	}
	d, err := duration(name, back)
	return -d, err
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
	const most = 1_000_000 // KB/s, faster than any server; servers must exist
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("n=%s is no number from 1 to %d; hint: n=1", value, most)
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

// ParseAll reads faults, and joins the errors of the invalid ones.
func ParseAll(texts []string) ([]Fault, error) {
	var all []Fault
	var errs []error
	for _, text := range texts {
		f, err := Parse(text)
		all, errs = append(all, f), append(errs, err)
	}
	return all, errors.Join(errs...)
}
