package measure

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

// Join returns the figures of a run from the figures of its shares, at least one. Counts and rates add up,
// and histograms are merged, so that each percentile is of all durations. Figures of what the shares have in
// common, such as the processor time of a server, are the highest of all. Times are since the start of each
// share. The Business has no sentence.
func Join(shares ...Measures) Measures {
	var all Measures
	for i := range shares {
		all.join(&shares[i])
	}
	all.AttemptsPerGrant = ratio(float64(all.Measured.Attempts), float64(all.Measured.Grants))
	slices.SortStableFunc(all.Errors, byCount)
	return all
}

func (m *Measures) join(o *Measures) {
	had, more := m.grants(), o.grants()
	m.CommandsPerGrant = ratio(m.CommandsPerGrant*had+o.CommandsPerGrant*more, had+more)
	m.Sent, m.Received = m.Sent.join(had, o.Sent, more), m.Received.join(had, o.Received, more)
	m.ServerCPU = m.ServerCPU.highest(float64(m.Measured.Grants), o.ServerCPU, float64(o.Measured.Grants))
	for i, p := range m.Phases() {
		p.join(o.Phases()[i])
	}
	m.Span = max(m.Span, o.Span)
	m.GrantsPerSecond += o.GrantsPerSecond
	m.Connections += o.Connections
	m.Stale += o.Stale
	m.LostUpdates += o.LostUpdates
	m.Arrivals = m.Arrivals.join(o.Arrivals)
	m.Business = joinBusiness(m.Business, o.Business)
	for _, e := range o.Errors {
		m.Errors = joinError(m.Errors, e)
	}
	m.Timeline.join(&o.Timeline)
}

// grants returns the grants of the whole run.
func (m *Measures) grants() float64 { return float64(m.Warmup.Grants + m.Measured.Grants) }

// join returns the cost of had and more grants together.
func (c Cost) join(had float64, o Cost, more float64) Cost {
	if had == 0 {
		return o
	}
	return Cost{PerGrant: ratio(c.PerGrant*had+o.PerGrant*more, had+more), Known: c.Known && (o.Known || more == 0)}
}

// highest returns the higher total of two as a cost of had and more grants.
func (c Cost) highest(had float64, o Cost, more float64) Cost {
	return Cost{PerGrant: ratio(max(c.PerGrant*had, o.PerGrant*more), had+more), Known: c.Known || o.Known}
}

func (p *Phase) join(o *Phase) {
	p.Name = o.Name
	p.Grants += o.Grants
	p.Nested += o.Nested
	p.Refused += o.Refused
	p.Unknown += o.Unknown
	p.Failed += o.Failed
	p.Lost += o.Lost
	p.Attempts += o.Attempts
	for i := range p.latencies {
		p.latencies[i].join(&o.latencies[i])
	}
}

func (l *Latency) join(o *Latency) {
	l.OutOfRange += o.OutOfRange
	if o.values == nil {
		return
	}
	if l.values == nil {
		l.values = newHistogram()
	}
	l.values.Merge(o.values)
}

func (a *Arrivals) join(o *Arrivals) *Arrivals {
	if a == nil || o == nil {
		return cmp.Or(a, o)
	}
	sum := *a
	sum.Due += o.Due
	sum.Started += o.Started
	sum.Waiting += o.Waiting
	sum.BehindNS = max(a.BehindNS, o.BehindNS)
	sum.BusyNS += o.BusyNS
	sum.WakingNS += o.WakingNS
	sum.WakingMaxNS = max(a.WakingMaxNS, o.WakingMaxNS)
	sum.Overslept += o.Overslept
	sum.Processor = max(a.Processor, o.Processor)
	sum.OfferedPerSecond += o.OfferedPerSecond
	sum.StartedPerSecond += o.StartedPerSecond
	sum.AnsweredPerSecond += o.AnsweredPerSecond
	return &sum
}

// joinBusiness adds up the figures of a and b. There are none if one of them has none.
func joinBusiness(a, b *runinfo.Business) *runinfo.Business {
	switch {
	case a == nil || b == nil:
		return cmp.Or(a, b)
	case a.Why != "":
		return a
	case b.Why != "":
		return b
	}
	sum := &runinfo.Business{Figures: maps.Clone(a.Figures)}
	for name, n := range b.Figures {
		sum.Figures[name] += n
	}
	return sum
}

// joinError adds the errors of one kind.
func joinError(all []Error, e Error) []Error {
	i := slices.IndexFunc(all, func(o Error) bool { return o.Op == e.Op && o.Kind == e.Kind && o.Fault == e.Fault })
	if i < 0 {
		return append(slices.Clip(all), e)
	}
	known := &all[i]
	known.Count += e.Count
	known.Of += e.Of
	if e.At < known.At {
		known.At, known.First = e.At, e.First
	}
	return all
}

func (t *Timeline) join(o *Timeline) {
	t.Grants.Merge(o.Grants)
	t.Refused.Merge(o.Refused)
	t.Troubled.Merge(o.Troubled)
	t.Slowest.Merge(o.Slowest)
	for i := range o.Faults {
		theirs := &o.Faults[i]
		switch ours := t.line(theirs.Note); {
		case !fault.OfServer(theirs.Note):
			ours.join(theirs)
		case theirs.Count() > ours.Count(): // one fault of a server is in all shares
			*ours = *theirs
		}
	}
}

func (f *FaultLine) join(o *FaultLine) {
	f.Occurrences.Merge(o.Occurrences)
	periods := append(slices.Clone(f.Periods), o.Periods...)
	slices.SortFunc(periods, func(a, b Period) int { return cmp.Compare(a.From, b.From) })
	f.Periods = nil
	for _, p := range periods {
		f.add(p)
	}
}
