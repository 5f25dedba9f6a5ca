package workloads

import (
	"cmp"
	"context"
	"time"

	"github.com/lockbench/lockbench"
)

// runJob is the long job of "Locks on Alawar's sites". Many servers try to start it in the same
// minute and one runs it: the others skip it, and the winner extends its lease meanwhile and
// keeps late servers out for a while afterwards.
func runJob(ctx context.Context, c *Client) error {
	if !c.awaitPeriod(ctx) {
		return nil
	}
	lease, err := c.Acquire(ctx)
	if c.refused {
		c.Counts.Skipped.Add(1)
	}
	if lease == nil {
		return err
	}
	ended := c.beginJob()
	finished, err := c.runExtending(ctx, lease)
	ended(finished)
	if finished {
		c.Counts.Done.Add(1)
	}
	return cmp.Or(err, c.ReleaseAfter(ctx, lease, c.run.Options.Delay))
}

// Most servers turn to their job within the first part of a period, since their
// clocks and schedulers differ; the usual delay after the job, a fifth, outlasts
// that. The others were down or busy and come at any time of it: into a job that
// is under way on an extended lease, or after it.
const (
	punctual = 0.6 // share of the servers
	late     = 0.1 // of the period
)

// lateness is the time in a period, as a share of it, at which a server turns to its job. It
// depends on punctuality alone, from 0 to 1.
func lateness(punctuality float64) float64 {
	if punctuality < punctual {
		return late * punctuality / punctual
	}
	return (punctuality - punctual) / (1 - punctual)
}

// awaitPeriod waits until the next period that this client has not taken part in, and for the
// drawn lateness. It returns false when the run is over before that.
func (c *Client) awaitPeriod(ctx context.Context) bool {
	period := c.run.Options.Period
	elapsed := time.Since(c.run.Start)
	c.period = max(c.period, int64(elapsed/period))
	due := time.Duration((float64(c.period) + lateness(c.choice.Punctuality)) * float64(period))
	c.period++
	return c.work(ctx, due-elapsed)
}

// runExtending does the job. It extends the lease, if the lease can be extended, whenever half
// of the job or of the lease is over, whichever comes first; a slow job forgets to. It reports
// whether the job was finished: it was not when the lock was lost meanwhile or the run is over.
func (c *Client) runExtending(ctx context.Context, lease lockbench.Lease) (bool, error) {
	if _, can := lockbench.Ability[lockbench.Extender](lease); !can || c.choice.Slow {
		return c.Hold(ctx, lease), nil
	}
	ttl := c.asked.TTL
	for left := c.choice.Hold; ; {
		part := min(c.choice.Hold/2, ttl/2)
		if left <= part || part == 0 {
			return c.work(ctx, left), nil
		}
		if !c.work(ctx, part) {
			return false, nil
		}
		left -= part
		if extended, err := c.Extend(ctx, lease, ttl); !extended {
			return false, err
		}
	}
}
