package main

import (
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/workloads"
)

// tour returns the default options of a run: all designs within a minute, with a lease of
// two seconds, since a shorter one would only show the period of the watchdog.
func tour() workloads.Options {
	var hold workloads.Distribution
	if err := hold.UnmarshalText([]byte("exp:1ms")); err != nil {
		panic(err) // a constant of lockbench
	}
	return workloads.Options{
		// Two clients on each key show the speed of a contended lock; the stallers beside
		// them show the effects of a hold that outlives its lease.
		Clients:   20,
		Keys:      10,
		KeyChoice: workloads.Pairs,
		Stallers:  12,
		TTL:       2 * time.Second,
		Wait:      250 * time.Millisecond,
		Hold:      hold,
		Duration:  3 * time.Second,
		Warmup:    300 * time.Millisecond,
	}
}

// randomSeed returns a seed that is short enough to be typed again.
func randomSeed() uint64 { return uint64(rand.Uint32N(1_000_000)) + 1 }
