package history

import "fmt"

var kindNames = [...]string{"", "acquire", "release", "extend", "renew", "read", "write", "lost", "death", "pause", "resume", "fault"}

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
	i, err := indexOf(kindNames[:], string(b), "kind of operation")
	*k = Kind(i)
	return err
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Outcome) UnmarshalText(b []byte) error {
	i, err := indexOf(outcomeNames[:], string(b), "outcome")
	*o = Outcome(i)
	return err
}

func nameAt(names []string, i int) string {
	if i < len(names) && names[i] != "" {
		return names[i]
	}
	return fmt.Sprintf("invalid(%d)", i)
}

func indexOf(names []string, name, what string) (int, error) {
	for i, n := range names {
		if n == name && n != "" {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%q is no %s; hint: one of %q", name, what, names)
}
