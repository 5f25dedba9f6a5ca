package etcd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/daemon"
)

// extraMembers is the number of members that Enlarge adds: three are the fewest that can lose one.
const extraMembers = 2

// Enlarge implements [design.Elector]. Clients still connect to the first member.
func (s *Server) Enlarge(ctx context.Context) error {
	for len(s.members) < extraMembers {
		home, err := daemon.NewHome("", homePrefix)
		if err != nil {
			return fmt.Errorf("private etcd: %w", err)
		}
		m := &private{program: s.own.program, name: rand.Text(), home: home, server: &Server{kind: design.Private, version: s.version}, leads: s}
		m.Daemon, err = daemon.Start(ctx, daemon.Program{Name: "etcd", Home: home, Listen: func() error { return m.join(ctx) }, Command: m.command, Answers: m.answers})
		if err != nil {
			return err
		}
		s.members = append(s.members, m)
	}
	return nil
}

// join chooses the addresses of a member, and makes it known to the others.
func (p *private) join(ctx context.Context) error {
	c := p.leads.client()
	defer c.close()
	if p.id != "" { // of a try that failed
		if err := c.call(ctx, "/v3/cluster/member/remove", map[string]string{"ID": p.id}, &struct{}{}); err != nil {
			return err
		}
	}
	if err := p.listen(); err != nil {
		return err
	}
	var got struct {
		Member  struct{ ID string }
		Members []struct {
			ID       string
			Name     string
			PeerURLs []string
		}
	}
	err := c.call(ctx, "/v3/cluster/member/add", map[string][]string{"peerURLs": {"http://" + p.peers}}, &got)
	if err != nil {
		return err
	}
	p.id, p.others = got.Member.ID, ""
	for _, m := range got.Members {
		if m.ID != p.id {
			p.others += m.Name + "=" + m.PeerURLs[0] + ","
		}
	}
	return nil
}

// LoseLeader implements [design.Elector]. The member to which clients connect hands its leadership over
// first, so that their connections last.
func (s *Server) LoseLeader(ctx context.Context, between func()) error {
	c := s.client()
	defer c.close()
	lost, err := s.follower(ctx, c)
	if err != nil {
		return err
	}
	if err := lost.Restart(ctx, between); err != nil {
		return err
	}
	for err = c.healthy(ctx); err != nil && ctx.Err() == nil; err = c.healthy(ctx) {
		time.Sleep(pollInterval)
	}
	return err
}

// follower returns the member that leads, after the first one has made another its leader.
func (s *Server) follower(ctx context.Context, c *client) (*private, error) {
	for ctx.Err() == nil {
		leader, err := leaderOf(ctx, c)
		if err != nil {
			return nil, err
		}
		for _, m := range s.members {
			if m.id == leader {
				return m, nil
			}
		}
		err = c.call(ctx, "/v3/maintenance/transfer-leadership", map[string]string{"targetID": s.members[0].id}, &struct{}{})
		var refused *refusal
		if err != nil && !errors.As(err, &refused) { // there is no leader, or another one by now
			return nil, err
		}
		time.Sleep(pollInterval)
	}
	return nil, ctx.Err()
}

// pollInterval is the time between two looks.
const pollInterval = 10 * time.Millisecond

// leaderOf returns the ID of the leader, empty if a server knows none.
func leaderOf(ctx context.Context, c *client) (id string, err error) {
	var got struct{ Leader string }
	err = c.call(ctx, "/v3/maintenance/status", struct{}{}, &got)
	return got.Leader, err
}

// Term implements [design.Elector].
func (s *Server) Term(ctx context.Context) (uint64, error) {
	c := s.client()
	defer c.close()
	var got struct {
		RaftTerm uint64 `json:"raftTerm,string"`
	}
	err := c.call(ctx, "/v3/maintenance/status", struct{}{}, &got)
	return got.RaftTerm, err
}

// Close ends the server, with its members.
func (s *Server) Close() (err error) {
	for _, m := range s.members {
		err = errors.Join(err, m.Close())
	}
	s.members = nil
	return errors.Join(err, s.Daemon.Close())
}
