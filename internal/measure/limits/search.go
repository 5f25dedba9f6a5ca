package limits

import (
	"fmt"
	"math"
	"slices"
)

// An Outcome is the outcome of a trial. The zero value is Unable, which never counts as success.
type Outcome uint8

// The outcomes of a trial.
const (
	// Unable means that the trial proves nothing about the value, as when the machine could not
	// offer the rate. The search avoids the value like a value that fails; the limit found is then
	// a limit of the trials and not of the lock.
	Unable Outcome = iota
	Fails
	Holds
)

var outcomeNames = [...]string{"unable", "fails", "holds"}

// String returns the name under which reports show o.
func (o Outcome) String() string { return outcomeNames[o] }

// MarshalText implements encoding.TextMarshaler.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Outcome) UnmarshalText(b []byte) error {
	i := slices.Index(outcomeNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("%q is no outcome of a trial; hint: one of %q", b, outcomeNames)
	}
	*o = Outcome(i)
	return nil
}

// A Config describes a search. All values are above zero.
type Config struct {
	// Rising is set if small values hold and great values fail, as for rates; the search finds the
	// greatest value that holds. Otherwise it is the other way round, as for leases.
	Rising bool
	// Start is the first value to try, Least and Most bound the search.
	Start, Least, Most float64
	// Unit is the unit of values, which are multiples of it; zero for none.
	Unit float64
	// Precision ends the search when the holding and the failing value are no further
	// apart than this share of the smaller one. Zero is 5 %.
	Precision float64
	// Votes is the most trials of a value that failed: it fails if most of them do. It is an odd
	// number; zero is 1, for trials that do not depend on chance.
	Votes int
	// Confirmations is the number of further trials in which the limit must hold: the first trial
	// was selected because it held. If one fails, the search continues with the next value.
	Confirmations int
}

const usualPrecision = 0.05

// Validate returns an error if the configuration is invalid.
func (c Config) Validate() error {
	switch {
	case !(c.Least > 0 && c.Least <= c.Start && c.Start <= c.Most) || math.IsInf(c.Most, 0):
		return fmt.Errorf("search from %v between %v and %v: these are not in order, or not above zero; hint: least <= start <= most", c.Start, c.Least, c.Most)
	case !(c.Unit >= 0) || !(c.Precision >= 0) || c.Confirmations < 0:
		return fmt.Errorf("search in units of %v, to a precision of %v, confirmed %d times: no number of these may be below zero; hint: zero is what is usual", c.Unit, c.Precision, c.Confirmations)
	case c.Votes < 0 || c.Votes > 0 && c.Votes%2 == 0:
		return fmt.Errorf("search: %d votes may come to nothing; hint: an odd number", c.Votes)
	}
	return nil
}

// A Search is one search. The caller asks for the next value to try and reports its outcome, until
// there is none. It is not safe for concurrent use.
type Search struct {
	cfg     Config
	tallies map[float64]*tally
	// holds is the furthest value known to hold, fails the nearest known to fail; zero if there is
	// none. A value is further if it is closer to the failing side of the range.
	holds, fails float64
	next         float64
	done         bool
	finishing    bool
}

// tally counts the outcomes of one value.
type tally struct{ holds, fails, unable int }

// New returns a new search, or the error of [Config.Validate].
func New(c Config) (*Search, error) {
	if c.Precision == 0 {
		c.Precision = usualPrecision
	}
	if c.Votes == 0 {
		c.Votes = 1
	}
	s := &Search{cfg: c, tallies: map[float64]*tally{}}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s.next = s.round(c.Start)
	return s, nil
}

// Next returns the next value to try, and false if the search is over.
func (s *Search) Next() (value float64, ok bool) { return s.next, !s.done }

// Report reports the outcome for the value that Next returned.
func (s *Search) Report(o Outcome) {
	t := s.tallies[s.next]
	if t == nil {
		t = &tally{}
		s.tallies[s.next] = t
	}
	switch o {
	case Holds:
		t.holds++
	case Fails:
		t.fails++
	case Unable:
		t.unable++
	}
	if s.undecided(t) {
		return
	}
	if t.holds > t.fails+t.unable {
		s.holds = s.next
	} else {
		s.fails = s.next
		s.forget()
	}
	s.proceed()
}

// Finish ends the search early: from now on only the furthest value that held is tried, until it is
// confirmed. If no value held, the search is over.
func (s *Search) Finish() {
	if s.done || s.finishing {
		return
	}
	s.finishing = true
	s.proceed()
}

// undecided reports whether a value that failed needs another trial. A value that held does not:
// the confirmations follow at the end.
func (s *Search) undecided(t *tally) bool {
	most := s.cfg.Votes/2 + 1
	return !s.finishing && t.fails+t.unable > 0 && t.holds < most && t.fails+t.unable < most
}

// forget drops a limit beyond a value that failed. The furthest value that held and is not beyond
// the failed value replaces it.
func (s *Search) forget() {
	if s.holds == 0 || !s.beyond(s.holds, s.fails) {
		return
	}
	s.holds = 0
	for v, t := range s.tallies {
		if t.holds > t.fails+t.unable && s.beyond(s.fails, v) && (s.holds == 0 || s.beyond(v, s.holds)) {
			s.holds = v
		}
	}
}

// beyond reports whether a is as far as b, or further.
func (s *Search) beyond(a, b float64) bool {
	if s.cfg.Rising {
		return a >= b
	}
	return a <= b
}

// proceed chooses the next value.
func (s *Search) proceed() {
	switch {
	case s.finishing && s.holds == 0:
		s.done = true
	case s.finishing:
		s.confirm()
	case s.fails == 0:
		s.stride(s.holds, true)
	case s.holds == 0:
		s.stride(s.fails, false)
	default:
		s.bisect()
	}
}

// stride doubles or halves the value: on towards the failing side, or back.
func (s *Search) stride(from float64, on bool) {
	to := from * 2
	if on != s.cfg.Rising {
		to = from / 2
	}
	to = s.round(min(max(to, s.cfg.Least), s.cfg.Most))
	if to == from {
		s.end(on)
		return
	}
	s.next = to
}

// end ends the search at its bounds. A limit is confirmed before.
func (s *Search) end(held bool) {
	if held {
		s.confirm()
		return
	}
	s.done = true
}

// bisect chooses a value between holds and fails, until these are close enough.
func (s *Search) bisect() {
	low, high := min(s.holds, s.fails), max(s.holds, s.fails)
	middle := s.round(math.Sqrt(low * high))
	if high/low <= 1+s.cfg.Precision || middle <= low || middle >= high {
		s.confirm()
		return
	}
	s.next = middle
}

// confirm chooses the limit again, until it has held often enough.
func (s *Search) confirm() {
	s.next = s.holds
	s.done = s.tallies[s.holds].holds > s.cfg.Confirmations
}

func (s *Search) round(v float64) float64 {
	if s.cfg.Unit == 0 {
		return v
	}
	return max(1, math.Round(v/s.cfg.Unit)) * s.cfg.Unit
}

// A Result is the result of a search.
type Result struct {
	// Limit is the furthest value that holds; zero if none does.
	Limit float64
	// Beyond is the nearest value further on that does not hold, and Why its outcome, Fails or
	// Unable. Beyond is zero if every value held up to the bound of the search.
	Beyond float64
	Why    Outcome
	// Confirmed counts the trials in which the limit held, and Against the others.
	Confirmed, Against int
	// Done reports whether the search is over. Otherwise Limit held once, but was not narrowed down
	// or confirmed.
	Done bool
	// Early reports whether [Search.Finish] ended the search.
	Early bool
}

// Result returns the result so far; it is final once Next returns false.
func (s *Search) Result() Result {
	r := Result{Limit: s.holds, Beyond: s.fails, Done: s.done, Early: s.finishing}
	if t := s.tallies[s.holds]; t != nil {
		r.Confirmed, r.Against = t.holds, t.fails+t.unable
	}
	if t := s.tallies[s.fails]; t != nil && t.fails > 0 {
		r.Why = Fails
	}
	return r
}
