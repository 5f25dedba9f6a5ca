package design

import "time"

// WholeSeconds is the lease that a design counting in whole seconds grants when
// ttl is asked for: rounded up, at least one second.
func WholeSeconds(ttl time.Duration) time.Duration { return roundUp(ttl, time.Second) }

// WholeMillis is the lease that PX and PEXPIRE can express when ttl is asked for:
// rounded up to a millisecond, at least one.
func WholeMillis(ttl time.Duration) time.Duration { return roundUp(ttl, time.Millisecond) }

// CutToMillis is what comes of a lease that is no whole number of milliseconds, in locks that cut it to one: a
// [Design.LeaseUnitWhy].
const CutToMillis = "is cut to whole ones, and of less than one nothing is left, while its owner counts on all of it"

func roundUp(d, unit time.Duration) time.Duration {
	return max(unit, (d + unit - 1).Truncate(unit))
}

// Validity is what a lease returns by [lockbench.Validator]: the start of the
// attempt that succeeded, and the lease really granted. Leases embed it.
type Validity struct {
	From    time.Time
	Granted time.Duration
}

// Valid implements [lockbench.Validator].
func (v *Validity) Valid() (from time.Time, granted time.Duration) { return v.From, v.Granted }
