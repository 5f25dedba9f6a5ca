package servers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/lib/subprocess"
)

// An ownProcess is the process of a private server. A restart replaces the process.
type ownProcess struct {
	mu     sync.Mutex
	launch launch
	child  *child
	tcp    string  // see ListenTCP
	logs   bool    // see KeepLog
	clock  string  // file that sets its clock, see OwnClock; empty for none
	homes  []*home // of replicas that took its place
}

// start starts the process with the current settings of the launch.
func (o *ownProcess) start() (*child, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c, err := o.launch.start()
	if err == nil {
		o.child = c
	}
	return c, err
}

func (o *ownProcess) current() *child {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.child
}

func (o *ownProcess) end() error { return o.current().end() }

// close ends the process and removes its files.
func (o *ownProcess) close() error {
	err := errors.Join(o.end(), o.launch.home.Remove())
	for _, h := range o.homes {
		err = errors.Join(err, h.Remove())
	}
	return err
}

func (o *ownProcess) whyDied() error { return o.current().err }

// PlainTCP reports whether the server is reached by TCP at its address, and without TLS.
func (s *Server) PlainTCP() bool {
	return s.kind == design.External && s.options.Network == "tcp" && s.options.TLSConfig == nil && s.sentinels == nil && s.cluster == nil
}

// Kill ends the process of a private server, until [Server.Restart].
func (s *Server) Kill() error {
	own, err := s.process()
	if err != nil {
		return err
	}
	return own.end()
}

// process returns the process of a private server; the error says why s has none.
func (s *Server) process() (*ownProcess, error) {
	if s.own == nil {
		return nil, fmt.Errorf("server %s is %s: lockbench does not control its process; hint: use a private server", s.address, s.kind)
	}
	return s.own, nil
}

// Suspend stops the process of a private server (SIGSTOP) until [Server.Resume]: it does
// not answer, and its input waits.
func (s *Server) Suspend() error { return s.signal((*subprocess.Process).Suspend) }

// Resume lets a suspended server go on.
func (s *Server) Resume() error { return s.signal((*subprocess.Process).Resume) }

func (s *Server) signal(how func(*subprocess.Process) error) error {
	own, err := s.process()
	if err != nil {
		return err
	}
	if err := how(own.current().process); err != nil {
		return fmt.Errorf("server %s: %w", s.address, err)
	}
	return nil
}

// Restart kills a private server and starts it again at the same address: empty, unless
// it keeps a log ([Server.KeepLog]). It calls between after the end of the old process
// and before the start of the new one. It returns once the new one serves commands: that
// must answer within 30 s, and may load its log until ctx ends.
func (s *Server) Restart(ctx context.Context, between func()) error {
	own, err := s.process()
	if err != nil {
		return err
	}
	if err := own.end(); err != nil {
		return fmt.Errorf("kill server %s: %w", s.address, err)
	}
	between()
	c, err := own.start()
	if err == nil {
		_, err = awaitOwn(ctx, s, c)
	}
	if err != nil {
		return fmt.Errorf("start server %s again: %w", s.address, err)
	}
	return nil
}

// KeepLog makes a private server log every write to disk before it answers, so that a
// restart finds all acknowledged writes. It returns once the log is complete.
func (s *Server) KeepLog(ctx context.Context) error {
	own, err := s.process()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	client := s.single()
	defer client.Close()
	for name, value := range map[string]string{"appendfsync": "always", "appendonly": "yes"} {
		if err := client.ConfigSet(ctx, name, value).Err(); err != nil {
			return fmt.Errorf("server %s: set %s: %w", s.address, name, err)
		}
	}
	own.mu.Lock()
	if !own.logs {
		own.launch.args = append(own.launch.args, "--appendonly", "yes", "--appendfsync", "always")
	}
	own.logs = true
	own.mu.Unlock()
	return s.awaitLog(ctx, client)
}

// awaitLog waits until the log contains the server's earlier data.
func (s *Server) awaitLog(ctx context.Context, client *redis.Client) error {
	for {
		info, err := infoSection(ctx, client, "persistence")
		if err != nil {
			return fmt.Errorf("server %s: wait for its log: %w", s.address, err)
		}
		if info["aof_enabled"] == "1" && info["aof_rewrite_in_progress"] == "0" && info["aof_rewrite_scheduled"] == "0" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("server %s: its log is not complete: %w", s.address, ctx.Err())
		case <-time.After(pollInterval):
		}
	}
}
