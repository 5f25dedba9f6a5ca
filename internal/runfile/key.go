package runfile

import (
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/suggest"
)

// A Type is what the text of a value has to look like.
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

// Takes says what values of the type are, and names one. It is not simple where there is
// more to say of a value than that it is of another type.
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
	// Help says what it sets, for people.
	Help string
	// Default is its value where it is left out, as text; empty for none.
	Default string
	// Type is what its values look like.
	Type Type
	// List allows several values.
	List bool
	// Commas allows several values in one text of a list, separated by commas.
	Commas bool
	// Joined allows a list where one value is wanted: its items are put together with
	// commas, in their order.
	Joined bool
	// Known are the values that there are, or, where values are pairs, their names.
	// Empty means that any will do.
	Known []string
	// Patterns allows globs beside Known.
	Patterns bool
	// Pair is what stands between name and value, such as "=", where a mapping from the
	// one to the other may be written for a text that has both; empty where not.
	Pair string
	// Check says what is wrong with a value that is of Known, and may hint; nil accepts
	// all. Of the types Boolean to Duration it is only asked whether something is.
	Check func(value string) error
}

// A Value is one value of a setting and where it begins.
type Value struct {
	Text string
	At   Position
}

// A Setting is a key of a file with its values: one, or for a list as many as there are.
type Setting struct {
	Key Key
	// At is where the key stands.
	At     Position
	Values []Value
}

// Texts are the values without their places.
func (s Setting) Texts() []string { return texts(s.Values) }

func texts(values []Value) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = v.Text
	}
	return all
}

// takes says what the key takes, for errors.
func (k Key) takes() string {
	what, _, _ := k.Type.Takes()
	return what
}

// known is an error for a value that is none of those that there are.
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
