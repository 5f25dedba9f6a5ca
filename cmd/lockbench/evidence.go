package main

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/internal/evidence"
)

// exploreFlag adds the flag that explores designs before they run.
func exploreFlag(f *pflag.FlagSet, o *evidence.Options) {
	f.DurationVar(&o.Explore, "explore", time.Second, "explore each design in virtual time for so long before it is run; 0s does not")
}

// evidenceFlags adds the flags for the evidence of conclusions.
func evidenceFlags(f *pflag.FlagSet, o *evidence.Options) {
	f.StringVar(&o.Known, "known", "on", "on or off: what the released matrix knows of these designs counts")
	f.StringSliceVar(&o.Conditions, "conditions", nil, "`names` of the conditions that conclusions speak of, all or none; lockbench list conditions prints them (default all but skew, state-loss and failover)")
}
