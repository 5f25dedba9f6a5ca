package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/internal/service/daemon"
)

// extraMembers is the number of members that Enlarge adds: three are the fewest that can lose one.
const extraMembers = 2

// Enlarge implements [design.Elector]. Clients still connect to the first member.
func (s *Server) Enlarge(ctx context.Context) error {
	for len(s.members) < extraMembers {
		m := &private{program: s.own.program}
		if err := m.start(ctx, func() error { return m.join(ctx, s) }); err != nil {
			return err
		}
		s.members = append(s.members, m)
	}
	return nil
}

// join chooses the addresses of a member, and makes it known to the others by s.
func (p *private) join(ctx context.Context, s *Server) error {
	c := s.client()
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
			ID, Name string
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
	var leader *private
	if err := daemon.Await(ctx, func(ctx context.Context) (err error) {
		leader, err = s.leader(ctx, c)
		return err
	}); err != nil {
		return fmt.Errorf("private etcd: %w", err)
	}
	if err := leader.Restart(ctx, between); err != nil {
		return err
	}
	return daemon.Await(ctx, c.healthy)
}

// leader returns the member that was added and leads. If the first one does, it asks that one to hand over.
func (s *Server) leader(ctx context.Context, c *client) (*private, error) {
	now, err := c.status(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(s.members, func(m *private) bool { return m.id == now.Leader })
	if i >= 0 {
		return s.members[i], nil
	}
	err = c.call(ctx, "/v3/maintenance/transfer-leadership", map[string]string{"targetID": s.members[0].id}, &struct{}{})
	return nil, errors.Join(errors.New("no other member leads yet"), err)
}

// Term implements [design.Elector].
func (s *Server) Term(ctx context.Context) (uint64, error) {
	c := s.client()
	defer c.close()
	now, err := c.status(ctx)
	return now.RaftTerm, err
}

// A status is what a member knows of the others.
type status struct {
	Leader   string // its ID, empty if there is none
	RaftTerm uint64 `json:"raftTerm,string"`
}

func (c *client) status(ctx context.Context) (now status, err error) {
	err = c.call(ctx, "/v3/maintenance/status", struct{}{}, &now)
	return now, err
}

// Close ends the server, with its members.
func (s *Server) Close() (err error) {
	for _, m := range s.members {
		err = errors.Join(err, m.Close())
	}
	s.members = nil
	return errors.Join(err, s.Daemon.Close())
}
