package adapter

import (
	"fmt"
	"time"

	"github.com/lockbench/lockbench/impls/design"
)

// renewals is the record of the renewals of one hold that an adapter reports. Its methods are called one at
// a time.
type renewals struct {
	seen    design.Observer
	clock   clock
	key     string
	called  time.Time     // the acquire, or its attempt
	granted time.Duration // by a renewal whose report does not tell its lease
	renewed func(from time.Time, granted time.Duration, err error)
	end     func(none bool)
}

// renewals returns the record for a hold of key that is requested at an instant, nil if there is none.
func (l *locker) renewals(key string, called time.Time, ttl time.Duration) *renewals {
	if !l.set.Stamps || !l.hello.tellsRenewals() {
		return nil
	}
	return &renewals{seen: l.seen, clock: l.clock, key: key, called: called, granted: l.hello.granted(ttl)}
}

// begin begins the record of the hold that was granted.
func (r *renewals) begin(got *grant) {
	if got.TTLMS > 0 {
		r.granted = time.Duration(got.TTLMS) * time.Millisecond
	}
	r.renewed, r.end = r.seen.Renewals(r.key)
}

// endRenewals ends the record of a hold that the owner has given up. Later reports are ignored. With none,
// no renewal under way can have an effect.
func (l *locker) endRenewals(hold int64, none bool) {
	if l.set.Stamps {
		l.program.endRenewals(hold, none)
	}
}

// told records a renewal by its report, which was read at an instant. The error says that its stamp is
// impossible.
func (r *renewals) told(a answer, read time.Time) (err error) {
	var from time.Time
	if a.AttemptNS != 0 {
		var by time.Time
		from, by = r.clock.around(a.AttemptNS)
		if by.Before(r.called) || from.After(read) {
			return fmt.Errorf("attempt_ns %d is no time between the call of the acquire and the reading of the report, %d and %d; hint: a reading of CLOCK_MONOTONIC before the renewal is sent; or --stamps driver", a.AttemptNS, r.clock.readingAt(r.called), r.clock.readingAt(read))
		}
	}
	granted := r.granted
	if a.TTLMS > 0 {
		granted = time.Duration(a.TTLMS) * time.Millisecond
	}
	if a.Error != "" {
		_, err = result(a)
	}
	r.renewed(from, granted, err)
	return nil
}
