package locktest

import (
	"fmt"
	"time"
)

// A bound is the range of a setting, with the reasons for its ends.
type bound struct {
	least, most  time.Duration
	below, above string
	hint         string
}

// mostTolerance bounds the tolerance that a lock may declare: more would hide that a key never
// comes free.
const mostTolerance = 10 * time.Second

// mostPolling bounds the interval between the tries of a waiter, mostPatience the time that a call
// may take.
const (
	mostPolling  = 10 * time.Second
	mostPatience = 10 * time.Minute
)

// The bounds of the times in options and the environment. A declaration excuses the lock, so it is
// bounded.
var (
	ttlBound = bound{time.Millisecond, time.Hour, "too short to be tested", "more than 1h0m0s, and the test takes six times as long",
		"a second, or what the lock grants at least"}
	toleranceBound = bound{1, mostTolerance, "no time by which a key may come free late", "more than 10s, and would hide that a key does not come free",
		"leave WithTolerance away, or give what the lock rounds up or waits for at most"}
	patienceBound = bound{1, mostPatience, "no time to return in", "more than 10m0s, and would hide that a call hangs",
		"leave WithPatience away, which allows 5s"}
	pollingBound = bound{1, mostPolling, "no time between two tries", "more than 10s, and would hide that a waiter is left waiting",
		"leave WithPolling away, or give the longest pause between two tries of a waiter"}
	budgetBound = bound{time.Millisecond, time.Hour, "no time to search in", "more than 1h0m0s",
		"10s, or WithSchedules for what is the same on every machine"}
	unitBound = bound{time.Microsecond, mostTolerance, "shorter than any clock tells", "more than 10s, and no lease is as long",
		"leave WithLeaseUnit away, or give the unit in which the lock counts"}
	timeoutBound = bound{time.Millisecond, mostTolerance, "too short for a server to answer in", "more than 10s, and a try that takes as long is told from others without it",
		"leave WithTimeout away, or give the time after which the lock or its client gives a try up"}
)

// check returns an error unless d is within the bound. The name of the setting, such as "a
// tolerance" or the variable with its text, begins the error.
func (b bound) check(what string, d time.Duration) error {
	switch {
	case d < b.least:
		return fmt.Errorf("%s of %v is %s; hint: %s", what, d, b.below, b.hint)
	case d > b.most:
		return fmt.Errorf("%s of %v is %s; hint: %s", what, d, b.above, b.hint)
	}
	return nil
}

// A said is a time from an option or the environment.
type said struct {
	what  string
	d     time.Duration
	bound bound
}

// say records a given time, to be checked when all are known.
func (s *settings) say(what string, d time.Duration, b bound) time.Duration {
	s.said = append(s.said, said{what, d, b})
	return d
}

// checkTimes returns the error of the first time that is out of its bounds.
func (s *settings) checkTimes() error {
	for _, one := range s.said {
		if err := one.bound.check(one.what, one.d); err != nil {
			return err
		}
	}
	return nil
}
