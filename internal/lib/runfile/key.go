package runfile

import (
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/lib/suggest"
)

// A Type is the syntax of a value.
type Type int

// The types of values.
const (
	Text Type = iota
	Boolean
	Integer
	Count // an integer that is not negative
	Number
	Duration     // of package time, such as 1m30s
	Distribution // of package workloads, such as exp:5ms
	Scalar       // a text that may look like a number, too
)

// Takes describes values of the type, and gives an example. simple is false if values
// have further rules beside their type.
func (t Type) Takes() (what, example string, simple bool) {
	switch t {
	case Boolean:
		return "true or false", "true", true
	case Integer:
		return "a whole number", "8", true
	case Count:
		return "a whole number, 0 or more", "8", true
	case Number:
		return "a number", "0.25", true
	case Duration:
		return "a duration", "500ms, 2s or 1m30s", true
	case Distribution:
		return "a duration or distribution", "exp:5ms", false
	}
	return "a text", "", false
}

// A Key is a setting that a file may have. It is plain data; Check must be safe to
// call more than once.
type Key struct {
	// Name is the key as it is written.
	Name string
	// Help describes the setting, for people.
	Help string
	// Default is its value if it is left out, as text; empty for none.
	Default string
	// Type is the syntax of its values.
	Type Type
	// List allows several values.
	List bool
	// Commas allows several values in one text of a list, separated by commas.
	Commas bool
	// Joined allows a list in place of one value: its items are joined by commas, in
	// their order.
	Joined bool
	// Known are the valid values or, if values are pairs, their valid names. Empty means
	// that any will do.
	Known []string
	// Patterns allows globs beside Known.
	Patterns bool
	// Pair is the separator between name and value, such as "=", if a mapping may
	// replace a text that has both; empty if not.
	Pair string
	// Check returns an error, maybe with a hint, for a value that is in Known but still
	// wrong; nil accepts all. For the types Boolean to Duration only the presence of an
	// error counts.
	Check func(value string) error
}

// A Value is one value of a setting, with its position.
type Value struct {
	Text string
	At   Position
}

// A Setting is a key of a file with its values: one, or for a list as many as there are.
type Setting struct {
	Key Key
	// At is the position of the key.
	At     Position
	Values []Value
}

// Texts returns the values without their positions.
func (s Setting) Texts() []string { return texts(s.Values) }

func texts(values []Value) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = v.Text
	}
	return all
}

// takes describes the values of the key, for errors.
func (k Key) takes() string {
	what, _, _ := k.Type.Takes()
	return what
}

// known returns an error for a value that is not among the known ones.
func (k Key) known(text string) error {
	name := text
	if k.Pair != "" {
		name = text[:strings.IndexAny(text+",", ","+k.Pair)]
	}
	if len(k.Known) == 0 || k.Patterns || slices.Contains(k.Known, name) {
		return nil
	}
	return suggest.Unknown(strings.ReplaceAll(k.Name, "-", " "), name, k.Known)
}
