package limits

import (
	"fmt"
	"math"
)

// An Outcome is what came of a trial. The zero value is Unable, which is never success.
type Outcome uint8

// The outcomes of a trial.
const (
	// Unable: nothing can be said of the value, because the trial itself did not come
	// about, as when the machine could not offer the rate. The search keeps away from
	// it as from one that fails, and the limit is then the trials' and not the lock's.
	Unable Outcome = iota
	Fails
	Holds
)

var outcomeNames = [...]string{"unable", "fails", "holds"}

// String returns the name under which reports show o.
func (o Outcome) String() string { return outcomeNames[o] }

// MarshalText implements encoding.TextMarshaler.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// A Config says what to search for. All values are above zero.
type Config struct {
	// Rising: small values hold and great ones fail, as of rates, and the greatest that
	// holds is wanted. Otherwise it is the other way round, as of leases.
	Rising bool
	// Start is the first value to try, Least and Most bound the search.
	Start, Least, Most float64
	// Unit is what values are multiples of; zero for none.
	Unit float64
	// Precision is how near the search comes: it is done where the values that hold and
	// fail are no further apart than this share of the smaller one. Zero is 5 %.
	Precision float64
	// Votes is how many trials at most decide about a value that failed: it fails where
	// most of them do. An odd number; zero is 1, for trials that chance does not fail.
	Votes int
	// Confirmations are further trials that the limit found has to hold in: the first
	// that held was picked for holding. One that fails there gives way to the next.
	Confirmations int
}

const usualPrecision = 0.05

// Validate reports what is wrong with the configuration.
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

// A Search is one search under way: ask for the value to try next, and report what came
// of it, until there is none. It is not safe for concurrent use.
type Search struct {
	cfg     Config
	tallies map[float64]*tally
	// holds is the furthest value known to hold, fails the nearest known not to; zero
	// while there is none. Far and near are seen from where everything holds.
	holds, fails float64
	next         float64
	done         bool
}

// tally is what the trials of one value came to.
type tally struct{ holds, fails, unable int }

// New begins a search. The error is that of [Config.Validate].
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

// Next returns the value to try; false when the search is over.
func (s *Search) Next() (value float64, ok bool) { return s.next, !s.done }

// Report reports what came of trying the value that Next returned.
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

// undecided reports whether a value that failed is to be tried again. One that held is
// decided: the confirmations come at the end.
func (s *Search) undecided(t *tally) bool {
	most := s.cfg.Votes/2 + 1
	return t.fails+t.unable > 0 && t.holds < most && t.fails+t.unable < most
}

// forget gives up a limit that lies beyond what failed.
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

// beyond reports whether a is as far as b, or further, from where everything holds.
func (s *Search) beyond(a, b float64) bool {
	if s.cfg.Rising {
		return a >= b
	}
	return a <= b
}

// proceed chooses the next value.
func (s *Search) proceed() {
	switch {
	case s.fails == 0:
		s.stride(s.holds, true)
	case s.holds == 0:
		s.stride(s.fails, false)
	default:
		s.bisect()
	}
}

// stride doubles or halves: on to where it fails, or back to where it holds.
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

// end ends the search at its bounds; with a limit, once that is confirmed.
func (s *Search) end(held bool) {
	if held {
		s.confirm()
		return
	}
	s.done = true
}

// bisect tries what lies between, as long as that is worth it.
func (s *Search) bisect() {
	low, high := min(s.holds, s.fails), max(s.holds, s.fails)
	middle := s.round(math.Sqrt(low * high))
	if high/low <= 1+s.cfg.Precision || middle <= low || middle >= high {
		s.confirm()
		return
	}
	s.next = middle
}

// confirm tries the limit again until it held often enough.
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

// A Result is what a search came to.
type Result struct {
	// Limit is the furthest value that holds; zero when none does.
	Limit float64
	// Beyond is the nearest value further on that does not, and why: Fails or Unable.
	// Zero where everything held up to the search's own bound.
	Beyond float64
	Why    Outcome
	// Confirmed is in how many trials the limit held, and Against in how many not.
	Confirmed, Against int
	// Done: the search came to its end. Otherwise the limit is one that held, and was
	// neither narrowed down nor confirmed.
	Done bool
}

// Result returns what was found so far; the end, when Next says that there is no more.
func (s *Search) Result() Result {
	r := Result{Limit: s.holds, Beyond: s.fails, Done: s.done}
	if t := s.tallies[s.holds]; t != nil {
		r.Confirmed, r.Against = t.holds, t.fails+t.unable
	}
	if t := s.tallies[s.fails]; t != nil && t.fails > 0 {
		r.Why = Fails
	}
	return r
}
