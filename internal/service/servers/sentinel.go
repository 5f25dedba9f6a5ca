package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	errNoSentinel    = errors.New("no Sentinel answers")
	errNotSentinel   = errors.New("it is no Sentinel")
	errSentinelLogin = errors.New("the Sentinel refuses the login")
	errNoMaster      = errors.New("the Sentinel knows no such master")
	errNoPrimary     = errors.New("the Sentinel names a primary that is none")
)

// sentinels know which server is the primary of a master name. They are safe for
// concurrent use.
type sentinels struct {
	master  string
	addrs   []string
	clients []*redis.SentinelClient // of each address
	last    atomic.Int64            // index of the sentinel that last led to the primary
	opt     *redis.Options          // of the primary
}

// newSentinels returns the sentinels at addrs. They take the settings of the server, and a login of
// their own.
func newSentinels(addrs []string, p ownOptions, opt redis.Options) *sentinels {
	if opt.TLSConfig != nil {
		opt.TLSConfig = opt.TLSConfig.Clone()
		opt.TLSConfig.ServerName = "" // each address has a name of its own
	}
	s := &sentinels{master: p.master, addrs: addrs, opt: &opt}
	each := opt
	each.DB, each.Username, each.Password = 0, p.sentinelUsername, p.sentinelPassword
	each.Protocol, each.PoolSize = 2, 4
	// A silent sentinel leaves time to ask the next, and to dial the primary.
	share := opt.DialTimeout / (1 + time.Duration(len(addrs)))
	each.DialTimeout, each.ReadTimeout, each.WriteTimeout = share, share, share
	for _, addr := range addrs {
		at := each
		at.Addr = addr
		at.Dialer = limitedDialer(&at)
		s.clients = append(s.clients, redis.NewSentinelClient(&at))
	}
	return s
}

// close closes the connections to the sentinels.
func (s *sentinels) close() error {
	var errs []error
	for _, c := range s.clients {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// dial connects to the server that a sentinel names and that confirms to be the primary. It asks
// the sentinels in turn, beginning with the last one that was right. Every error is a dial error.
func (s *sentinels) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	var errs []error
	first := int(s.last.Load())
	for i := range s.clients {
		n := (first + i) % len(s.clients)
		conn, err := s.dialBy(ctx, network, n)
		if err == nil {
			s.last.Store(int64(n))
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, &net.OpError{Op: "dial", Net: network, Err: joined(errs)}
}

// dialBy connects to the primary according to sentinel n.
func (s *sentinels) dialBy(ctx context.Context, network string, n int) (net.Conn, error) {
	at, err := s.clients[n].GetMasterAddrByName(ctx, s.master).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, fmt.Errorf("%w: %q at %s%s", errNoMaster, s.master, s.addrs[n], s.known(ctx, n))
	case isReply(err, "WRONGPASS", "NOAUTH", "NOPERM", "ERR AUTH", "ERR invalid password"):
		return nil, fmt.Errorf("%w at %s: %w", errSentinelLogin, s.addrs[n], err)
	case isReply(err): // a Sentinel knows the command
		return nil, fmt.Errorf("%w at %s: %w", errNotSentinel, s.addrs[n], err)
	case err != nil:
		return nil, fmt.Errorf("%w at %s: %w", errNoSentinel, s.addrs[n], err)
	case len(at) != 2:
		return nil, fmt.Errorf("%w at %s: it names the primary as %.80q", errNotSentinel, s.addrs[n], at)
	}
	addr := net.JoinHostPort(at[0], at[1])
	conn, err := dialPrimary(ctx, network, addr, s.opt)
	if err != nil {
		return nil, fmt.Errorf("%w: %s, by %s: %w", errNoPrimary, addr, s.addrs[n], err)
	}
	return conn, nil
}

// known lists the master names of sentinel n, empty if it does not tell.
func (s *sentinels) known(ctx context.Context, n int) string {
	names, err := masterNames(ctx, s.clients[n])
	if err != nil || len(names) == 0 {
		return ""
	}
	return ", but " + strings.Join(names, ", ")
}

// masterNames are the master names that a sentinel watches, quoted.
func masterNames(ctx context.Context, client *redis.SentinelClient) (names []string, err error) {
	masters, err := client.Masters(ctx).Result()
	for _, m := range masters {
		fields, _ := m.([]any)
		for i := 0; i+1 < len(fields); i += 2 {
			if fields[i] == "name" {
				names = append(names, fmt.Sprintf("%.80q", fields[i+1]))
			}
		}
	}
	slices.Sort(names)
	return names, err
}

// A joinedError joins several errors in one line.
type joinedError []error

func joined(errs []error) error {
	if len(errs) == 1 {
		return errs[0]
	}
	return joinedError(errs)
}

// Error implements error.
func (j joinedError) Error() string {
	var texts []string
	for _, err := range j {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "; ")
}

// Unwrap is for package errors.
func (j joinedError) Unwrap() []error { return j }
