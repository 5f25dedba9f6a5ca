package runinfo

// A Share is a part of a run: each group of keys and clients whose number modulo Of is Index. The zero
// Share, and one of 1, is the whole run.
type Share struct {
	Index int `json:"index"`
	Of    int `json:"of"`
}

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
