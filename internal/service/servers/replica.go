package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
)

// A Replica is a private server that copies another one until it takes that server's
// place.
type Replica struct {
	server *Server
	of     *Server
}

// ListenTCP returns the TCP address of a server, which replicas and proxies need. A private server
// without one begins to listen on a loopback port, which needs Redis 7 or newer; later calls return
// the same address.
func (s *Server) ListenTCP(ctx context.Context) (addr string, err error) {
	if s.options.Network == "tcp" && s.kind != design.Embedded {
		return s.options.Addr, nil
	}
	own, err := s.process()
	if err != nil {
		return "", err
	}
	if addr := own.port(); addr != "" {
		return addr, nil
	}
	client := s.single()
	defer client.Close()
	for _, setting := range [][2]string{{"bind", loopback}, {"repl-diskless-sync-delay", "0"}} {
		if err := client.ConfigSet(ctx, setting[0], setting[1]).Err(); err != nil {
			return "", fmt.Errorf("server %s: set %s: %w; hint: use Redis 7 or newer", s.address, setting[0], err)
		}
	}
	const tries = 3 // another program may listen at the port first
	var port string
	for range tries {
		if addr, err = FreePort(); err != nil {
			return "", fmt.Errorf("server %s: find a free port: %w", s.address, err)
		}
		_, port, _ = net.SplitHostPort(addr)
		if err = client.ConfigSet(ctx, "port", port).Err(); err == nil {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("server %s: listen at port %s: %w; hint: use Redis 7 or newer, which needs a free port from %d to %d", s.address, port, err, firstPort, endPort-1)
	}
	own.setPort(addr, "--bind", loopback, "--port", port)
	return addr, nil
}

// port is the process's address beside its socket, empty for none.
func (o *ownProcess) port() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tcp
}

// setPort stores that address, with the arguments that a restart needs for it.
func (o *ownProcess) setPort(addr string, args ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tcp = addr
	o.launch.args = append(o.launch.args, args...)
}

// StartReplica starts a private server that replicates s through the address via, and
// returns it once it has all data of s, within 30 s. Close it, unless it has taken the
// place of s.
func (s *Server) StartReplica(ctx context.Context, via string) (design.Replica, error) {
	if s.options.Network != "unix" {
		return nil, fmt.Errorf("server %s: a replica takes its place at a Unix socket only; hint: leave this fault out here", s.address)
	}
	started, err := StartPrivate(ctx)
	if err != nil {
		return nil, err
	}
	r := &Replica{server: started, of: s}
	if err := r.follow(ctx, via); err != nil {
		return nil, errors.Join(fmt.Errorf("replica of %s: %w", s.address, err), r.Close())
	}
	return r, nil
}

func (r *Replica) follow(ctx context.Context, via string) error {
	host, port, err := net.SplitHostPort(via)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	client := r.server.single()
	defer client.Close()
	if err := client.Do(ctx, "REPLICAOF", host, port).Err(); err != nil {
		return err
	}
	return r.awaitLink(ctx, client)
}

// awaitLink waits until the replica follows its primary.
func (r *Replica) awaitLink(ctx context.Context, client *redis.Client) error {
	for {
		info, err := infoSection(ctx, client, "replication")
		if err != nil {
			return err
		}
		if info["role"] == "slave" && info["master_link_status"] == "up" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it does not follow its primary (link %s): %w", info["master_link_status"], ctx.Err())
		case <-time.After(pollInterval):
		}
	}
}

// Close ends a replica that has not taken its primary's place.
func (r *Replica) Close() error {
	if r.server == nil {
		return nil
	}
	return r.server.Close()
}

// Behind returns how many bytes the replica is behind its primary.
func (r *Replica) Behind(ctx context.Context) (int64, error) {
	done, err := r.of.replicationOffset(ctx, "master_repl_offset")
	if err != nil {
		return 0, err
	}
	known, err := r.server.replicationOffset(ctx, "slave_repl_offset")
	return done - known, err
}

func (s *Server) replicationOffset(ctx context.Context, field string) (int64, error) {
	client := s.single()
	defer client.Close()
	info, err := infoSection(ctx, client, "replication")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(info[field], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("server %s: %s of INFO replication: %w", s.address, field, err)
	}
	return n, nil
}

// Failover kills the primary and puts the replica in its place, at its address. It
// calls between after the end of the primary and before the replica answers at that
// address. The Replica is unusable then; data that the primary had not yet replicated
// is lost.
func (r *Replica) Failover(ctx context.Context, between func()) error {
	old, fresh := r.of.own, r.server.own
	if err := old.end(); err != nil {
		return fmt.Errorf("kill primary %s: %w", r.of.address, err)
	}
	between()
	client := r.server.single()
	defer client.Close()
	if err := client.Do(ctx, "REPLICAOF", "NO", "ONE").Err(); err != nil {
		return fmt.Errorf("promote the replica of %s: %w", r.of.address, err)
	}
	if err := os.Rename(r.server.options.Addr, r.of.options.Addr); err != nil {
		return fmt.Errorf("give the replica the address %s: %w", r.of.address, err)
	}
	old.succeed(fresh)
	_, err := awaitOwn(ctx, r.of, old.current())
	r.server = nil
	return err
}

// succeed puts the process of other behind the server of o, after the end of o's
// process.
func (o *ownProcess) succeed(other *ownProcess) {
	other.mu.Lock()
	child, home := other.child, other.launch.home
	other.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.child, o.tcp = child, ""
	o.homes = append(o.homes, home)
}
