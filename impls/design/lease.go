package design

import "time"

// WholeSeconds is the lease that a design counting in whole seconds grants when
// ttl is asked for: rounded up, at least one second.
func WholeSeconds(ttl time.Duration) time.Duration { return roundUp(ttl, time.Second) }

// WholeMillis is the lease that PX and PEXPIRE can express when ttl is asked for:
// rounded up to a millisecond, at least one.
func WholeMillis(ttl time.Duration) time.Duration { return roundUp(ttl, time.Millisecond) }

func roundUp(d, unit time.Duration) time.Duration {
	return max(unit, (d + unit - 1).Truncate(unit))
}
