package design

import "time"

// WholeSeconds returns the lease that a design counting in whole seconds grants if ttl is
// requested: ttl rounded up, at least one second.
func WholeSeconds(ttl time.Duration) time.Duration { return roundUp(ttl, time.Second) }

// WholeMillis returns the lease that PX and PEXPIRE can express if ttl is requested: ttl rounded up
// to a millisecond, at least one.
func WholeMillis(ttl time.Duration) time.Duration { return roundUp(ttl, time.Millisecond) }

// CutToMillis is a [Design.LeaseUnitWhy] for locks that cut a lease to whole milliseconds.
const CutToMillis = "is cut to whole ones, and of less than one nothing is left, while its owner counts on all of it"

func roundUp(d, unit time.Duration) time.Duration {
	return max(unit, (d + unit - 1).Truncate(unit))
}

// A Validity implements [lockbench.Validator] for the leases that embed it: From is the start of
// the attempt that succeeded, and Granted the lease really granted.
type Validity struct {
	From    time.Time
	Granted time.Duration
}

// Valid implements [lockbench.Validator].
func (v *Validity) Valid() (from time.Time, granted time.Duration) { return v.From, v.Granted }
