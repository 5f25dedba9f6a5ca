package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/lib/faketime"
)

// FindClock returns nil if the clocks of private servers can be set here, else [faketime.ErrNone].
func FindClock() error {
	_, err := faketime.Find()
	return err
}

// OwnClock restarts a private server, empty, so that [Server.SetClock] works. If the
// server was already restarted so, it only sets the clock right. It returns
// [faketime.ErrNone] if this machine has no library for it.
func (s *Server) OwnClock(ctx context.Context) error {
	own, err := s.process()
	if err != nil {
		return err
	}
	library, err := faketime.Find()
	if err != nil {
		return err
	}
	if own.clockFile() != "" {
		return s.SetClock(ctx, 0)
	}
	file := own.launch.home.File("clock")
	if err := writeClock(file, 0); err != nil {
		return fmt.Errorf("server %s: %w", s.address, err)
	}
	own.mu.Lock()
	// Its own timers use the monotonic clock.
	own.clock, own.launch.env = file, append(faketime.Environment(library, file), faketime.RealMonotonic()...)
	own.mu.Unlock()
	if err := s.Restart(ctx, func() {}); err != nil {
		return err
	}
	// A right clock proves nothing yet, so set it wrong first.
	return errors.Join(s.SetClock(ctx, time.Hour), s.SetClock(ctx, 0))
}

// clockFile is the file that sets the server's clock, empty for the machine's clock.
func (o *ownProcess) clockFile() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.clock
}

// SetClock sets the clock of a private server, after [Server.OwnClock], ahead of the
// machine's, or behind it if ahead is negative. It returns once the server reports
// that time, within 30 s.
func (s *Server) SetClock(ctx context.Context, ahead time.Duration) error {
	own, err := s.process()
	if err != nil {
		return err
	}
	file := own.clockFile()
	if file == "" {
		return fmt.Errorf("server %s goes by the clock of the machine; hint: call OwnClock before SetClock", s.address)
	}
	if err := writeClock(file, ahead); err != nil {
		return fmt.Errorf("server %s: %w", s.address, err)
	}
	return s.awaitClock(ctx, ahead)
}

// writeClock writes to file how far ahead the clock is. The server sees the old time
// or the new one, never half a file.
func writeClock(file string, ahead time.Duration) error {
	fresh := file + ".new"
	if err := os.WriteFile(fresh, faketime.Ahead(ahead), 0o600); err != nil {
		return fmt.Errorf("set its clock: %w", err)
	}
	return os.Rename(fresh, file)
}

// awaitClock waits until the server's clock is so far ahead.
func (s *Server) awaitClock(ctx context.Context, ahead time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	client := s.single()
	defer client.Close()
	for {
		off, err := clockError(ctx, client, ahead)
		if err == nil && off == 0 {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("it is %v off what it was set to", off)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("server %s: its clock cannot be set %v ahead: %w; hint: have libfaketime and the server program be of one kind", s.address, ahead, err)
		case <-time.After(pollInterval):
		}
	}
}

// clockSlack bounds the difference between two readings of one clock: servers truncate
// to microseconds.
const clockSlack = time.Millisecond

// clockError asks the server for the time. It returns the distance to the machine's
// time plus ahead, zero if it may be right.
func clockError(ctx context.Context, client *redis.Client, ahead time.Duration) (time.Duration, error) {
	asked := time.Now()
	told, err := client.Time(ctx).Result()
	if err != nil {
		return 0, err
	}
	if early := asked.Add(ahead - clockSlack).Sub(told); early > 0 {
		return -early, nil
	}
	return max(0, told.Sub(time.Now().Add(ahead+clockSlack))), nil
}
