package runinfo

import (
	"fmt"
	"strconv"
	"strings"
)

// A Share is a part of a run: each group of keys and clients whose number modulo Of is Index. The zero
// Share, and one of 1, is the whole run. Its text is "1/2" for the first of two.
type Share struct{ Index, Of int }

// Whole reports whether s is the whole run.
func (s Share) Whole() bool { return s.Of <= 1 }

// Has reports whether s has thing n of a run: a group, or an arrival.
func (s Share) Has(n int64) bool { return s.Whole() || n%int64(s.Of) == int64(s.Index) }

// Count returns how many of the things 0 to n-1 are in s.
func (s Share) Count(n int64) int64 {
	if s.Whole() {
		return n
	}
	return (n + int64(s.Of-1-s.Index)) / int64(s.Of)
}

// String returns the text of s, empty for the zero Share.
func (s Share) String() string {
	if s == (Share{}) {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index+1, s.Of)
}

// MarshalText implements encoding.TextMarshaler.
func (s Share) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Share) UnmarshalText(text []byte) error {
	number, of, _ := strings.Cut(string(text), "/")
	n, bad := strconv.Atoi(number)
	all, worse := strconv.Atoi(of)
	if bad != nil || worse != nil || n < 1 || n > all {
		return fmt.Errorf("share %q: no part of a run; hint: its number and how many there are, such as 1/2", text)
	}
	*s = Share{Index: n - 1, Of: all}
	return nil
}
