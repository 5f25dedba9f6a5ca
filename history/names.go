package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/lib/suggest"
)

var kindNames = [...]string{"", "acquire", "release", "extend", "renew", "read", "write", "lost", "death", "pause", "resume", "fault", "probe", "clock"}

var outcomeNames = [...]string{"unknown", "ok", "refused", "lost", "failed"}

// String returns the kind's name as it stands in text renderings.
func (k Kind) String() string { return nameAt(kindNames[:], int(k)) }

// String returns the outcome's name as it stands in text renderings.
func (o Outcome) String() string { return nameAt(outcomeNames[:], int(o)) }

// MarshalText implements encoding.TextMarshaler.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// MarshalText implements encoding.TextMarshaler.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *Kind) UnmarshalText(b []byte) error {
	i, err := indexOf(kindNames[:], string(b), `"op" is %q, which is no kind of operation; hint: %s`)
	*k = Kind(i)
	return err
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Outcome) UnmarshalText(b []byte) error {
	i, err := indexOf(outcomeNames[:], string(b), `"outcome" is %q, which is no outcome; hint: %s; in doubt unknown, which accuses nobody`)
	*o = Outcome(i)
	return err
}

func nameAt(names []string, i int) string {
	if i < len(names) && names[i] != "" {
		return names[i]
	}
	return fmt.Sprintf("invalid(%d)", i)
}

// indexOf returns the index of a name. The error is made by format, with the name and a suggestion.
func indexOf(names []string, name, format string) (int, error) {
	for i, n := range names {
		if n == name && n != "" {
			return i, nil
		}
	}
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" })
	hint := "one of " + strings.Join(names, ", ")
	if near := suggest.Near(name, names); len(near) > 0 {
		hint = "did you mean " + near[0] + "? It is " + hint
	}
	return 0, fmt.Errorf(format, name, hint)
}

// suggestion returns the known name that is closest to name or, if none is close, all of them.
func suggestion(name string, known []string) string {
	if near := suggest.Near(name, known); len(near) > 0 {
		return "did you mean " + strings.Join(near, ", ") + "?"
	}
	return "known are " + strings.Join(known, ", ")
}
