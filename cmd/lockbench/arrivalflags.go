package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/workloads"
)

// arrivalFlags adds the flags of open loops.
func arrivalFlags(f *pflag.FlagSet, p *workloads.Options) {
	f.Var((*arrivalRate)(&p.Rate), "rate", "`arrivals` per second of all clients together in an open loop: due whether earlier ones are done or not; --clients limits the number in progress at once (default closed loop: a client starts again when it is done)")
	f.StringVar(&p.Arrival, "arrival", p.Arrival, "open loop: `model` of the times between arrivals: "+strings.Join(workloads.ArrivalModels(), ", ")+" (default "+workloads.Poisson+", as of independent users)")
	f.Var(newTextFlag(&p.Stages, "stages"), "stages", "open loop: DURATION:RATE,... changes the rate linearly, from --rate or 0 on, such as 30s:100,1m:1000,30s:0; unless given, --duration is the sum of the stages")
}

// settleArrivals lets stages decide the duration, unless it was given.
func settleArrivals(f *pflag.FlagSet, p *workloads.Options) {
	if len(p.Stages) > 0 && !f.Changed("duration") {
		p.Duration = p.Stages.Length()
	}
}

// arrivalRate is a flag with a number of arrivals per second.
type arrivalRate float64

// Set implements pflag.Value.
func (r *arrivalRate) Set(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return fmt.Errorf("%q is not a number; hint: arrivals per second, such as 1000", text)
	case !(v > 0):
		return fmt.Errorf("%s arrivals per second: it must be above 0; hint: such as 1000, or leave it out for a closed loop", text)
	}
	*r = arrivalRate(v)
	return nil
}

// String implements pflag.Value.
func (r *arrivalRate) String() string {
	if *r == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*r), 'f', -1, 64)
}

// Type implements pflag.Value.
func (*arrivalRate) Type() string { return "arrivals" }
