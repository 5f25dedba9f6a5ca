package inject

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// stepped are the servers with clocks that p steps: the last ones of the group.
func (in *Injector) stepped(p *plan) []*servers.Server {
	all := in.redis
	return all[len(all)-p.N:]
}

// ownClocks gives the servers that p steps clocks of their own. That empties them.
func (in *Injector) ownClocks(ctx context.Context, p *plan) error {
	for _, s := range in.stepped(p) {
		if err := s.OwnClock(ctx); err != nil {
			return err
		}
	}
	return nil
}

// stepClocks moves the clocks ahead, or sets them right again if they are ahead.
func (in *Injector) stepClocks(ctx context.Context, p *plan) error {
	if in.ahead == 0 {
		return in.setClocks(ctx, p, p.By)
	}
	return in.setClocks(ctx, p, 0)
}

// setClocks sets the clocks that p steps ahead by ahead. The moment at which a server
// first uses the new time is known only to lie between the two recorded events.
func (in *Injector) setClocks(ctx context.Context, p *plan, ahead time.Duration) error {
	by := int64(ahead - in.ahead)
	in.record(fault.Stepping, by)
	defer in.record(string(fault.ClockStep), by)
	in.ahead = ahead
	for _, s := range in.stepped(p) {
		if err := s.SetClock(ctx, ahead); err != nil {
			return err
		}
	}
	return nil
}

// resetClocks sets all clocks right again and records it, because clients may still
// hold locks.
func (in *Injector) resetClocks() {
	for _, p := range in.plans {
		if p.Kind != fault.ClockStep || in.ahead == 0 {
			continue
		}
		if err := in.setClocks(context.Background(), p, 0); err != nil {
			in.failed(fault.ClockStep, err)
		}
	}
}
