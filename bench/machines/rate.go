//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lockbench/lockbench/history"
)

// rateLength is the length of a run whose rate counts.
const rateLength = 5 * time.Second

// The holds of clients: with freely they limit the rate, with fully the processors do.
const (
	freely = "10ms"
	fully  = "0s"
)

// A measurement is one run.
type measurement struct {
	grants float64 // a second
	ops    int64
	// clients is the processor time of the processes that have clients. The other two are of a coordinator
	// without its NATS server, and of that.
	clients, coordinator, nats time.Duration
	skew                       time.Duration // of the start of two agents
}

// per returns the processor time per 100,000 operations.
func (m measurement) per(used time.Duration) time.Duration {
	return time.Duration(float64(used) * 100_000 / float64(m.ops)).Round(time.Millisecond)
}

// compareAll compares with processors that have time to spare, on a server for all runs and on private ones, which agents
// reach on the coordinator's machine, and with as many grants as they can make. It returns the reason why one of the
// first two ratios is not right. In the third one agents, coordinator and server compete for the processors.
func (b *bench) compareAll(ctx context.Context, rounds int, least float64) (slow, err error) {
	if rounds == 0 {
		return nil, nil
	}
	defer func() { b.private = false }()
	for _, b.private = range []bool{false, true} {
		ratio, err := b.compare(ctx, rounds, freely)
		if err != nil {
			return nil, err
		}
		if ratio < least {
			slow = errors.Join(slow, fmt.Errorf("the ratio of the rates is %.2f, below %v (private servers: %v)", ratio, least, b.private))
		}
	}
	b.private = false
	_, err = b.compare(ctx, rounds, fully)
	return slow, err
}

// A compared is a way to make the load, with its measurements.
type compared struct {
	name    string
	measure func(context.Context, string) (measurement, error)
	all     []measurement
}

// show prints the median of the processor time that used returns, per 100,000 operations.
func (c *compared) show(name string, used func(measurement) time.Duration) {
	var per []time.Duration
	for _, m := range c.all {
		per = append(per, m.per(used(m)))
	}
	fmt.Printf("  %-16s %v\n", name, median(per))
}

// compare measures two agents, one process, and two processes that make a share each, in turns. It prints the
// rates, and returns the median ratio of agents to one process. The ratio of agents to shares leaves out the
// cost of a second process. Shares cannot have private servers.
func (b *bench) compare(ctx context.Context, rounds int, hold string) (float64, error) {
	agents := &compared{name: fmt.Sprint(machines, " agents"), measure: b.measureTwo}
	others := []*compared{
		{name: "one process", measure: func(ctx context.Context, hold string) (measurement, error) { return b.measureOne(ctx, hold) }},
		{name: fmt.Sprint(machines, " shares"), measure: b.measureShares},
	}
	where := "one server"
	if b.private {
		where, others = "private servers", others[:1]
	}
	all := append([]*compared{agents}, others...)
	fmt.Printf("grants/s on %s, holds of %s\n", where, hold)
	for range rounds {
		for _, c := range all {
			m, err := c.measure(ctx, hold)
			if err != nil {
				return 0, err
			}
			c.all = append(c.all, m)
			fmt.Printf("  %s %.0f", c.name, m.grants)
		}
		fmt.Println()
	}
	var ratios []float64 // to each of the others
	fmt.Print("  median ratios of agents:")
	for _, c := range others {
		var to []float64
		for i, m := range c.all {
			to = append(to, agents.all[i].grants/m.grants)
		}
		ratios = append(ratios, median(to))
		fmt.Printf(" %.2f to %s", median(to), c.name)
	}
	fmt.Println("\nprocessor time per 100,000 operations, medians")
	for _, c := range all {
		c.show(c.name, func(m measurement) time.Duration { return m.clients })
	}
	if !b.private { // else the servers are children of the coordinator
		agents.show("coordinator", func(m measurement) time.Duration { return m.coordinator })
		agents.show("its NATS server", func(m measurement) time.Duration { return m.nats })
	}
	largest := slices.MaxFunc(agents.all, func(a, b measurement) int { return int(a.skew - b.skew) })
	fmt.Printf("skew of the start, largest of %d\n  %v\n", rounds, largest.skew)
	return ratios[0], nil
}

func median[T int | float64 | time.Duration](all []T) T {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

// measureOne measures a run, or a share of one, by one process.
func (b *bench) measureOne(ctx context.Context, hold string, share ...string) (m measurement, err error) {
	dir, err := b.folder()
	if err != nil {
		return m, err
	}
	ctx, cancel := context.WithTimeout(ctx, enough)
	defer cancel()
	p, err := startProcess(b.lockbench(dir, append(b.settings(dir, rateLength, hold), share...)...))
	if err != nil {
		return m, err
	}
	if code, err := p.exit(ctx); err != nil || code != 0 {
		return m, errors.Join(err, fmt.Errorf("one process: exit %d\n%s", code, p.said.Tail()))
	}
	m.clients = p.used()
	return m, m.read(dir)
}

// measureShares measures processes that make a share each at once, without a coordinator.
func (b *bench) measureShares(ctx context.Context, hold string) (all measurement, err error) {
	var work errgroup.Group
	var shares [machines]measurement
	for i := range machines {
		work.Go(func() (err error) {
			shares[i], err = b.measureOne(ctx, hold, "--seed", "1", "--share", fmt.Sprintf("%d/%d", i+1, machines))
			return err
		})
	}
	err = work.Wait()
	for _, m := range shares {
		all.grants, all.ops, all.clients = all.grants+m.grants, all.ops+m.ops, all.clients+m.clients
	}
	return all, err
}

// measureTwo measures a run of two agents.
func (b *bench) measureTwo(ctx context.Context, hold string) (m measurement, err error) {
	t, err := b.start(rateLength, hold, "")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, t.end()) }()
	ctx, cancel := context.WithTimeout(ctx, enough)
	defer cancel()
	if err := t.begun(ctx); err != nil {
		return m, err
	}
	family, err := familyOf(t.coordinator.PID())
	if err != nil {
		return m, err
	}
	for _, child := range family {
		if child.PID == t.coordinator.PID() || child.Comm == "redis-server" {
			continue
		}
		poll(ctx, func() bool {
			if is, err := stat(child.PID); err == nil {
				m.nats = time.Duration(is.CPUTime() * float64(time.Second))
			}
			return !lives(child)
		})
	}
	for _, p := range t.processes() {
		if code, err := p.exit(ctx); err != nil || code != 0 {
			return m, errors.Join(err, fmt.Errorf("%d agents: exit %d\n%s", machines, code, p.said.Tail()))
		}
	}
	for _, p := range t.agents {
		m.clients += p.used()
	}
	m.coordinator = t.coordinator.used() - m.nats
	if m.skew, err = t.skew(); err != nil {
		return m, err
	}
	return m, m.read(t.dir)
}

// read takes the rate and the count of the report.
func (m *measurement) read(dir string) error {
	r, err := report(dir)
	if err != nil {
		return err
	}
	if r.Partial || r.Error != "" || r.Counts.Ops == 0 {
		return fmt.Errorf("the record is partial or empty: %s %s (%s)", r.Why, r.Error, dir)
	}
	m.grants, m.ops = r.GrantsPerS, r.Counts.Ops
	return nil
}

// skew returns how far apart the clients of the agents began. All agents have one wall clock.
func (t *team) skew() (time.Duration, error) {
	parts, err := t.copies()
	if err != nil {
		return 0, err
	}
	var all []time.Time
	for _, part := range parts {
		src, err := history.Open(part)
		if err != nil {
			return 0, err
		}
		began, err := time.Parse(time.RFC3339Nano, src.Header().Started)
		if err != nil {
			return 0, err
		}
		for _, err := range src.Events() { // closes it
			if err != nil {
				return 0, err
			}
		}
		all = append(all, began)
	}
	if len(all) != machines {
		return 0, fmt.Errorf("%d histories, want %d", len(all), machines)
	}
	return slices.MaxFunc(all, time.Time.Compare).Sub(slices.MinFunc(all, time.Time.Compare)), nil
}
