package inject

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/servers"
)

// stepped are the servers whose clocks p steps: the last ones of the group.
func (in *Injector) stepped(p *plan) []*servers.Server {
	all := in.redis
	return all[len(all)-p.N:]
}

// ownClocks has the servers whose clocks are to be stepped go by clocks of their own.
// They are empty then.
func (in *Injector) ownClocks(ctx context.Context, p *plan) error {
	for _, s := range in.stepped(p) {
		if err := s.OwnClock(ctx); err != nil {
			return err
		}
	}
	return nil
}

// stepClocks sets clocks off, or right again when they are.
func (in *Injector) stepClocks(ctx context.Context, p *plan) error {
	if in.ahead == 0 {
		return in.setClocks(ctx, p, p.By)
	}
	return in.setClocks(ctx, p, 0)
}

// setClocks sets the clocks that p steps so far ahead. When a server first goes by the
// new time is known no better than from one event of the history to the other.
func (in *Injector) setClocks(ctx context.Context, p *plan, ahead time.Duration) error {
	by := int64(ahead - in.ahead)
	in.serverRecord.Fault(fault.Stepping, by)
	defer in.serverRecord.Fault(string(fault.ClockStep), by)
	in.ahead = ahead
	for _, s := range in.stepped(p) {
		if err := s.SetClock(ctx, ahead); err != nil {
			return err
		}
	}
	return nil
}

// rightClocks has all servers go by the right time again, on record: clients may still
// hold locks.
func (in *Injector) rightClocks() {
	for _, p := range in.plans {
		if p.Kind != fault.ClockStep || in.ahead == 0 {
			continue
		}
		if err := in.setClocks(context.Background(), p, 0); err != nil {
			in.failed(fault.ClockStep, err)
		}
	}
}
