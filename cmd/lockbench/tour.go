package main

import (
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/workloads"
)

// tour is what a run does where nothing is asked of it: all designs within a
// minute, with a lease of two seconds, since a shorter one would only show the
// period of the watchdog.
func tour() workloads.Options {
	var hold workloads.Distribution
	if err := hold.UnmarshalText([]byte("exp:1ms")); err != nil {
		panic(err) // a constant of ours
	}
	return workloads.Options{
		// Clients stay with their key, so that the slow keys do not hold up the
		// others: sixteen pairs on twelve keys put four clients on each slow key,
		// enough for one to overrun, one to be overtaken and one to profit, and
		// two on most others, which show the speed of a contended lock.
		Clients:   32,
		Keys:      12,
		KeyChoice: workloads.Pairs,
		SlowKeys:  0.25,
		TTL:       2 * time.Second,
		Wait:      250 * time.Millisecond,
		Hold:      hold,
		Duration:  3600 * time.Millisecond,
		Warmup:    300 * time.Millisecond,
	}
}

// randomSeed is short enough to be typed again.
func randomSeed() uint64 { return uint64(rand.Uint32N(1_000_000)) + 1 }
