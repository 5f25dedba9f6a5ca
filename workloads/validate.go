package workloads

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/lib/suggest"
)

const (
	// deepest bounds nesting: the deepest call chains that people lock are far below.
	deepest = 1000
	// mostClients bounds goroutines and connections: Redis accepts 10,000 connections unless
	// configured otherwise, and so many clients take about 1 GB.
	mostClients = 10_000
	// mostKeys bounds the state of keys, in the lock and in the judge: about 1 KB each.
	mostKeys = 1_000_000
	// mostUnits bounds numbers that take no memory. Lua scripts calculate with doubles, which
	// represent it exactly.
	mostUnits = 1_000_000_000_000_000
)

// validate returns the reason why o, with its defaults filled in, cannot be run or
// would mean nothing. The error names the value and the reason, with a hint at valid
// values.
func (o Options) validate() error {
	for _, check := range []func(*Options) error{
		(*Options).checkMost, (*Options).checkCounts, (*Options).checkKeys, (*Options).checkGroups, (*Options).checkLease,
		(*Options).checkSlow, (*Options).checkBusiness, (*Options).checkGuard, (*Options).checkArrivals, (*Options).checkLength,
	} {
		if err := check(&o); err != nil {
			return err
		}
	}
	return nil
}

// checkMost refuses counts that the machine, or a server, could not bear.
func (o *Options) checkMost() error {
	for _, f := range []struct {
		name      string
		got, most int64
		why       string
	}{
		{"clients", int64(o.Clients), mostClients, "each has a goroutine, and a connection unless processes are fewer"},
		{"stallers", int64(o.Stallers), mostClients, "each is a client more"},
		{"keys", int64(o.Keys), mostKeys, "each has a record on the server and a state in the judge"},
		{"stock", o.Stock, mostUnits, "a Lua script could not count it"},
		{"threshold", o.Threshold, mostUnits, "a Lua script could not count it"},
		{"points", o.Points, mostUnits, "a Lua script could not count it"},
		{"operations", o.Operations, mostUnits, "no run gets that far"},
	} {
		if f.got > f.most {
			return fmt.Errorf("%s %d: too many: %s; hint: at most %d", f.name, f.got, f.why, f.most)
		}
	}
	return nil
}

func (o *Options) checkCounts() error {
	switch {
	case o.Clients < 1:
		return fmt.Errorf("clients %d: a run needs somebody to lock; hint: 1 or more", o.Clients)
	case o.Processes < 1:
		return fmt.Errorf("processes %d: clients must live somewhere; hint: 1 or more, 0 for one per client", o.Processes)
	case o.Processes > o.Clients:
		return fmt.Errorf("processes %d: more than the %d clients to spread over them; hint: at most %d", o.Processes, o.Clients, o.Clients)
	}
	return nil
}

func (o *Options) checkKeys() error {
	switch {
	case !slices.Contains(KeyChoices(), o.KeyChoice):
		return suggest.Unknown("key choice", o.KeyChoice, KeyChoices())
	case o.Keys < 1:
		return fmt.Errorf("keys %d: a run needs a lock; hint: 1 or more", o.Keys)
	case o.KeyChoice == Own && o.Keys != o.Clients:
		return fmt.Errorf("keys %d: key choice own means one key for each of the %d clients; hint: leave keys out", o.Keys, o.Clients)
	}
	return nil
}

func (o *Options) checkGroups() error {
	switch n := o.groups(); {
	case o.Groups < 0:
		return fmt.Errorf("groups %d: less than none; hint: 1, or as many as there are machines", o.Groups)
	case o.keyGroups() > o.Keys:
		return fmt.Errorf("groups %d: more than the %d keys to divide; hint: at most %d, or more keys", n, o.Keys, o.Keys)
	case n > o.Processes:
		return fmt.Errorf("groups %d: more than the %d processes to divide; hint: at most %d, or more processes", n, o.Processes, o.Processes)
	case o.Processes%n != 0:
		return fmt.Errorf("processes %d: no multiple of the %d groups, so that some would be in two; hint: %d", o.Processes, n, o.Processes-o.Processes%n)
	}
	return nil
}

func (o *Options) checkLease() error {
	switch {
	case o.TTL <= 0:
		return fmt.Errorf("ttl %v: a lease that ends at once locks nothing; hint: above 0s, such as 2s", o.TTL)
	case o.TTL > longest || o.NestedTTL > longest:
		return fmt.Errorf("ttl %v: a crashed owner would keep the lock for days; hint: at most %v", max(o.TTL, o.NestedTTL), longest)
	case o.NestedTTL <= 0:
		return fmt.Errorf("nested ttl %v: a lease that ends at once locks nothing; hint: above 0s, or leave it out for the ttl", o.NestedTTL)
	case o.Wait < 0:
		return fmt.Errorf("wait %v: time does not run backwards; hint: 0s for a single attempt", o.Wait)
	}
	return nil
}

func (o *Options) checkSlow() error {
	switch {
	case !isShare(o.Slow):
		return fmt.Errorf("slow %v: no share of holds; hint: from 0 (none) to 1 (all)", o.Slow)
	case o.Stallers < 0:
		return fmt.Errorf("stallers %d: less than none; hint: 0 for none", o.Stallers)
	case !(o.SlowFactor > 1 && o.SlowFactor <= 1000):
		return fmt.Errorf("slow factor %v: a slow hold must outlive its lease; hint: above 1, such as 1.25, and at most 1000", o.SlowFactor)
	}
	return nil
}

func isShare(s float64) bool { return !math.IsNaN(s) && s >= 0 && s <= 1 }

func (o *Options) checkBusiness() error {
	switch {
	case o.Stock < 1:
		return fmt.Errorf("stock %d: nothing to sell; hint: 1 or more", o.Stock)
	case o.Threshold < 1:
		return fmt.Errorf("threshold %d: redeeming must cost something; hint: 1 or more", o.Threshold)
	case o.Points <= o.Threshold:
		return fmt.Errorf("points %d: nobody gets above the threshold of %d; hint: %d or more", o.Points, o.Threshold, o.Threshold+1)
	case o.Depth < 1 || o.Depth > deepest:
		return fmt.Errorf("depth %d: no depth to nest to; hint: from 1 to %d", o.Depth, deepest)
	case o.Period <= 0:
		return fmt.Errorf("period %v: a job cannot be due all the time; hint: above 0s, such as 500ms", o.Period)
	case o.Delay < 0:
		return fmt.Errorf("delay %v: time does not run backwards; hint: above 0s, or leave it out for a fifth of the period", o.Delay)
	}
	return nil
}

func (o *Options) checkGuard() error {
	if o.Guard == "" || slices.Contains(lockbench.Guards(), o.Guard) {
		return nil
	}
	var known []string
	for _, g := range lockbench.Guards() {
		known = append(known, string(g))
	}
	return suggest.Unknown("guard", string(o.Guard), known)
}

func (o *Options) checkArrivals() error {
	if !o.OpenLoop() {
		if o.Arrival != "" {
			return fmt.Errorf("arrival %s: nothing arrives in a closed loop; hint: a rate, such as 1000", o.Arrival)
		}
		return nil
	}
	var none Distribution
	switch {
	case !isRate(o.Rate):
		return fmt.Errorf("rate %v: no number of arrivals per second; hint: above 0, such as 1000, and at most %.0f", o.Rate, highestRate)
	case !slices.Contains(ArrivalModels(), o.Arrival):
		return suggest.Unknown("arrival", o.Arrival, ArrivalModels())
	case o.Think != none:
		return fmt.Errorf("think %v: an arrival comes when it is due, whatever its client would rather do; hint: leave out think, or the rate", o.Think)
	}
	return o.checkStages()
}

func (o *Options) checkStages() error {
	if len(o.Stages) == 0 {
		return nil
	}
	if len(o.Stages) > mostStages {
		return fmt.Errorf("stages: %d of them; hint: at most %d", len(o.Stages), mostStages)
	}
	for _, s := range o.Stages {
		if err := s.check(); err != nil {
			return fmt.Errorf("stage %v: %w", Stages{s}, err)
		}
	}
	length := o.Stages.Length()
	switch {
	case length == 0:
		return fmt.Errorf("stages %v: they are over at once; hint: DURATION:RATE, such as 30s:100", o.Stages)
	case o.arrivals() < 1:
		return fmt.Errorf("stages %v: less than one arrival in %v; hint: higher rates", o.Stages, length)
	case o.Duration > length:
		return fmt.Errorf("duration %v: the stages end after %v; hint: leave the duration out", o.Duration, length)
	}
	return nil
}

// arrivals is the expected number of arrivals of the stages: the integral of the rate.
func (o *Options) arrivals() (n float64) {
	rate := o.Rate
	for _, s := range o.Stages {
		n += s.Duration.Seconds() * (rate + s.Rate) / 2
		rate = s.Rate
	}
	return n
}

func (o *Options) checkLength() error {
	switch {
	case o.Duration < 0:
		return fmt.Errorf("duration %v: time does not run backwards; hint: above 0s", o.Duration)
	case o.Operations < 0:
		return fmt.Errorf("operations %d: fewer than none; hint: 0 for no limit", o.Operations)
	case o.Duration == 0 && o.Operations == 0:
		return errors.New("neither duration nor operations: the run would never end; hint: set one, such as a duration of 10s")
	case o.Warmup < 0:
		return fmt.Errorf("warm-up %v: time does not run backwards; hint: 0s for none", o.Warmup)
	case o.Duration > 0:
		return o.checkFits()
	}
	return nil
}

// checkFits refuses options under which a lease or a hold cannot end even once within
// the duration: such a run makes every lock look safe.
func (o *Options) checkFits() error {
	slow := o.slowHold(o.TTL)
	switch {
	case o.Warmup >= o.Duration:
		return fmt.Errorf("warm-up %v: nothing is left to measure of a run of %v; hint: below %v", o.Warmup, o.Duration, o.Duration)
	case o.Hold.min() >= o.Duration:
		return fmt.Errorf("hold %v: no hold would end within the run of %v; hint: shorter holds, or a duration above %v", o.Hold, o.Duration, o.Hold.min())
	case o.Slow > 0 && slow >= o.Duration:
		return fmt.Errorf("slow holds of %v (ttl %v times %v): none would end within the run of %v; hint: a duration of %v or a shorter ttl",
			slow, o.TTL, o.SlowFactor, o.Duration, (3 * slow).Round(time.Second))
	}
	return nil
}
