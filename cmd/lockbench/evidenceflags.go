package main

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/internal/evidence"
)

// exploreFlag adds the flag that explores designs before they run.
func exploreFlag(f *pflag.FlagSet, o *evidence.Options) {
	f.DurationVar(&o.Explore, "explore", time.Second, "time to explore each design in virtual time before its run; 0s explores none")
}

// evidenceFlags adds the flags for the evidence of conclusions.
func evidenceFlags(f *pflag.FlagSet, o *evidence.Options) {
	f.StringVar(&o.Known, "known", "on", "on or off: conclusions also use the findings of the released matrix for these designs")
	f.StringSliceVar(&o.Conditions, "conditions", nil, "`names` of the conditions that conclusions cover, or all, or none; lockbench list conditions prints them (default all but skew, state-loss and failover)")
}
