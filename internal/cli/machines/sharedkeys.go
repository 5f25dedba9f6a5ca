package machines

import (
	"cmp"
	"context"
	"errors"

	"github.com/lockbench/lockbench/internal/drive/clockwatch"
)

// answerProbes begins to tell agents the raw clock, on a connection of its own, so that they wait for no other message.
// A second call does nothing.
func (c *Coordinator) answerProbes(ctx context.Context) error {
	if c.probed != nil {
		return nil
	}
	if err := clockwatch.Check(); err != nil {
		return err
	}
	conn, err := c.dial(ctx)
	if err != nil {
		return err
	}
	c.probed = conn
	zero := clockwatch.Raw()
	err = serve(conn, c.subjects+probeVerb, func(struct{}) (int64, error) { return clockwatch.Raw() - zero, nil })
	return errors.Join(err, conn.FlushTimeout(tryTime))
}

// tellStopped tells machines, once the clients of a run have stopped on all machines that are not lost, whether its keys
// can be removed. It returns those that have not taken it.
func (c *Coordinator) tellStopped(ctx context.Context, number int, untold []*machine) []*machine {
	all, lost := c.stopped(number)
	if !all {
		return untold
	}
	s := sweep{Run: number}
	if lost != nil {
		s.Why = lost.Error()
	}
	return failing(untold, func(m *machine) error { return cmp.Or(m.lost(), m.sweep(ctx, s)) })
}

// stopped reports whether the clients of a run have stopped on all machines that are not lost, and returns an error if
// one is.
func (c *Coordinator) stopped(number int) (all bool, lost error) {
	for _, m := range c.machines {
		if b, _ := m.state(); b.Run == number && (b.Stopped || b.Ended) {
			continue
		}
		its := cmp.Or(m.isTorn(), m.lost())
		if its == nil {
			return false, nil
		}
		lost = its
	}
	return true, lost
}
