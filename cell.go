package lockbench

import (
	"cmp"
	"fmt"
	"strings"
)

// A Cell is a guarantee under conditions. Its text is "exclusion" if nothing goes wrong,
// "exclusion@failover" under one condition, "exclusion@crash+skew" under two.
type Cell struct {
	Guarantee Guarantee
	Under     Conditions
}

// At returns g under these conditions.
func (g Guarantee) At(under Conditions) Cell { return Cell{g, under} }

// String returns the cell's text.
func (c Cell) String() string {
	if c.Under == 0 {
		return string(c.Guarantee)
	}
	return string(c.Guarantee) + "@" + c.Under.String()
}

// Compare orders cells by guarantee, then by number of conditions, then by conditions.
func (c Cell) Compare(other Cell) int {
	return cmp.Or(
		cmp.Compare(c.Guarantee.order(), other.Guarantee.order()),
		cmp.Compare(c.Under.Count(), other.Under.Count()),
		cmp.Compare(c.Under, other.Under),
	)
}

// MarshalText implements encoding.TextMarshaler.
func (c Cell) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Cell) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCell(string(text))
	return err
}

// ParseCell reads a cell's text. The error names the unknown word, and similar names.
func ParseCell(text string) (Cell, error) {
	name, under, at := strings.Cut(text, "@")
	g, err := parseGuarantee(name)
	if err != nil {
		return Cell{}, err
	}
	if at && under == "" {
		return Cell{}, fmt.Errorf("%q names no condition after @; hint: %s, or %s@crash", text, name, name)
	}
	conditions, err := parseConditions(under)
	if err != nil {
		return Cell{}, fmt.Errorf("%q: %w", text, err)
	}
	return Cell{g, conditions}, nil
}
