package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrNoClock means that there is nothing by which the clock of a private server could
// be set apart from that of the machine.
var ErrNoClock = errors.New("no libfaketime found, by which a server's clock is set; hint: on Linux install the package libfaketime")

// clockLibraries are where libfaketime is looked for, the first one found wins: that
// for programs with several threads before the other.
var clockLibraries = []string{
	"/usr/lib/*/faketime/libfaketimeMT.so.1",
	"/usr/lib*/faketime/libfaketimeMT.so.1",
	"/usr/local/lib/faketime/libfaketimeMT.so.1",
	"/usr/lib/*/faketime/libfaketime.so.1",
	"/usr/lib*/faketime/libfaketime.so.1",
	"/usr/local/lib/faketime/libfaketime.so.1",
}

// FindClock reports whether the clocks of private servers can be set here: nil, or
// [ErrNoClock].
func FindClock() error {
	_, err := findClock()
	return err
}

func findClock() (library string, err error) {
	if runtime.GOOS != "linux" {
		return "", ErrNoClock
	}
	for _, pattern := range clockLibraries {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[0], nil
		}
	}
	return "", ErrNoClock
}

// clockEnvironment is what a server is started with whose clock is what file says it
// is. Its monotonic clock, by which it keeps its own timers, is not touched. libc goes
// behind the library for its malloc: that of jemalloc reads the clock, which the
// library cannot yet tell when it is asked for memory itself
// (github.com/wolfcw/libfaketime/issues/130).
func clockEnvironment(library, file string) []string {
	return []string{
		"LD_PRELOAD=" + library + ":libc.so.6",
		"FAKETIME_TIMESTAMP_FILE=" + file,
		"FAKETIME_NO_CACHE=1", // a new time holds from the next look on
		"FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1",
	}
}

// OwnClock starts a private server anew, empty, such that [Server.SetClock] works. It
// does nothing to a server that has been started so, but to set its clock right. The
// error is [ErrNoClock] where this machine has no means for it.
func (s *Server) OwnClock(ctx context.Context) error {
	own, err := s.process()
	if err != nil {
		return err
	}
	library, err := findClock()
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
	own.clock, own.launch.env = file, clockEnvironment(library, file)
	own.mu.Unlock()
	if err := s.Restart(ctx, func() {}); err != nil {
		return err
	}
	// That it is right proves nothing yet.
	return errors.Join(s.SetClock(ctx, time.Hour), s.SetClock(ctx, 0))
}

// clockFile is where the server's clock is set; empty where it goes by the machine's.
func (o *ownProcess) clockFile() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.clock
}

// SetClock sets the clock of a private server, after [Server.OwnClock], ahead of the
// machine's, or behind it where ahead is negative. It returns once the server reports
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

// writeClock has file say how far ahead the clock is. The server sees the old time or
// the new one, never half a file.
func writeClock(file string, ahead time.Duration) error {
	fresh := file + ".new"
	if err := os.WriteFile(fresh, fmt.Appendf(nil, "%+.6f\n", ahead.Seconds()), 0o600); err != nil {
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

// clockSlack is what two readings of one clock may differ by: servers cut off what is
// less than a microsecond.
const clockSlack = time.Millisecond

// clockError asks the server for the time. It returns how far that is from the
// machine's, set so far ahead: zero when it may be right.
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
