package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
)

var (
	errNotCluster  = errors.New("it is no part of a Redis Cluster")
	errClusterDown = errors.New("the cluster is down")
	errNoNode      = errors.New("no node of the cluster answers")
)

// slots is the number of hash slots of a cluster.
const slots = 16384

// A cluster is a Server's knowledge of its Redis Cluster. It is safe for concurrent use.
type cluster struct {
	opt redis.Options // of each node, but for its address

	mu     sync.Mutex
	nodes  []string  // addresses, the ones named by the user first
	shards []*Server // by their first slot
}

// newCluster returns the Server of a cluster with nodes at these addresses. Call discover before
// use.
func newCluster(opt redis.Options, nodes []string) *Server {
	s := newServer(design.External, opt)
	s.cluster = &cluster{opt: opt, nodes: slices.Clone(nodes)}
	for i, addr := range nodes[1:] {
		s.address += string("?&"[min(i, 1)]) + "addr=" + addr
	}
	return s
}

// discover finds the primaries of the cluster.
func (s *Server) discover(ctx context.Context) error {
	c := s.cluster
	if c.opt.DB != 0 {
		return fmt.Errorf("server %s: a Redis Cluster has database 0 alone; hint: leave the number out of the address", s.address)
	}
	ranges, err := c.ranges(ctx)
	if err == nil {
		err = c.whole(ctx, ranges)
	}
	if err != nil {
		return explain(ctx, s, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shards = nil
	for _, r := range ranges {
		if slices.ContainsFunc(c.shards, func(other *Server) bool { return other.options.Addr == r.primary }) {
			continue // it has several ranges
		}
		opt := c.opt
		opt.Addr = r.primary
		shard := newServer(design.External, opt)
		shard.tag = tagOf(r.first, r.last)
		shard.options.Dialer = c.dialerOf(r.first)
		shard.secrets = s.secrets
		c.shards = append(c.shards, shard)
	}
	return nil
}

// parts returns the current shards of a cluster, or the last known ones if it cannot be asked; the
// only part of any other server is itself.
func (s *Server) parts(ctx context.Context) []*Server {
	if s.cluster == nil {
		return []*Server{s}
	}
	_ = s.discover(ctx) // requests to the parts will report the error
	s.cluster.mu.Lock()
	defer s.cluster.mu.Unlock()
	return slices.Clone(s.cluster.shards)
}

// known returns the parts as last found.
func (s *Server) known() []*Server {
	if s.cluster == nil {
		return []*Server{s}
	}
	s.cluster.mu.Lock()
	defer s.cluster.mu.Unlock()
	return slices.Clone(s.cluster.shards)
}

// Parts implements [design.Divided].
func (s *Server) Parts() (all []design.Service) {
	for _, part := range s.known() {
		all = append(all, part)
	}
	return all
}

// A slotRange is a range of hash slots with its primary.
type slotRange struct {
	first, last int
	primary     string
}

// ranges asks the nodes in turn for the slot ranges, until one answers.
func (c *cluster) ranges(ctx context.Context) ([]slotRange, error) {
	var errs []error
	for _, addr := range c.addresses() {
		found, err := c.rangesBy(ctx, addr)
		if err == nil {
			return found, nil
		}
		errs = append(errs, err)
	}
	return nil, joined(errs)
}

func (c *cluster) addresses() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.nodes)
}

// rangesBy asks one node.
func (c *cluster) rangesBy(ctx context.Context, addr string) (found []slotRange, err error) {
	client := c.client(addr)
	defer client.Close()
	//lint:ignore SA1019 CLUSTER SHARDS came with Redis 7
	all, err := client.ClusterSlots(ctx).Result()
	switch {
	case isReply(err, "ERR This instance has cluster support disabled") || isUnknownCommand(err):
		return nil, fmt.Errorf("%w: %s: %w", errNotCluster, addr, err)
	case isReply(err):
		return nil, fmt.Errorf("node %s: %w", addr, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %s: %w", errNoNode, addr, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	asked, _, _ := net.SplitHostPort(addr)
	for _, r := range all {
		for i, node := range r.Nodes {
			host, port, err := net.SplitHostPort(node.Addr)
			if err != nil {
				continue
			}
			if host == "" { // the node knows no name of its own
				host = asked
			}
			at := net.JoinHostPort(host, port)
			if !slices.Contains(c.nodes, at) {
				c.nodes = append(c.nodes, at)
			}
			if i == 0 {
				found = append(found, slotRange{r.Start, r.End, at})
			}
		}
	}
	slices.SortFunc(found, func(a, b slotRange) int { return a.first - b.first })
	return found, nil
}

// whole returns nil if all slots are served.
func (c *cluster) whole(ctx context.Context, ranges []slotRange) error {
	covered := 0
	for _, r := range ranges {
		covered += r.last - r.first + 1
	}
	state := "unknown"
	for _, addr := range c.addresses() {
		client := c.client(addr)
		text, err := client.ClusterInfo(ctx).Result()
		_ = client.Close() // it is of no more use
		if err == nil {
			state = fieldsOf(text)["cluster_state"]
			break
		}
	}
	if covered < slots || state == "fail" {
		return fmt.Errorf("%w: cluster_state:%s, %d of %d slots have a primary", errClusterDown, state, covered, slots)
	}
	return nil
}

// client returns a client of the node at addr alone.
func (c *cluster) client(addr string) *redis.Client {
	opt := c.opt
	opt.Addr, opt.PoolSize = addr, 1
	opt.Dialer = limitedDialer(&opt)
	return redis.NewClient(&opt)
}

// dialerOf returns a function that connects to the server that is the primary of a slot at that
// time and confirms it.
func (c *cluster) dialerOf(slot int) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		var errs []error
		for _, node := range c.addresses() {
			conn, err := c.dialBy(ctx, network, node, slot)
			if err == nil {
				return conn, nil
			}
			errs = append(errs, err)
		}
		return nil, &net.OpError{Op: "dial", Net: network, Err: joined(errs)}
	}
}

// dialBy connects to the primary of a slot according to node.
func (c *cluster) dialBy(ctx context.Context, network, node string, slot int) (net.Conn, error) {
	ranges, err := c.rangesBy(ctx, node)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(ranges, func(r slotRange) bool { return r.first <= slot && slot <= r.last })
	if i < 0 {
		return nil, fmt.Errorf("%w: node %s knows no primary of slot %d", errClusterDown, node, slot)
	}
	conn, err := dialPrimary(ctx, network, ranges[i].primary, &c.opt)
	if err != nil {
		return nil, fmt.Errorf("primary %s of slot %d, by node %s: %w", ranges[i].primary, slot, node, err)
	}
	return conn, nil
}

// tagOf is a hash tag, for the end of keys, of one of these slots.
func tagOf(first, last int) string {
	for i := 0; ; i++ {
		if text := strconv.Itoa(i); first <= slotOf(text) && slotOf(text) <= last {
			return "{" + text + "}"
		}
	}
}

// slotOf is the hash slot of a key without a tag: its CRC16 (XMODEM).
func slotOf(key string) int {
	var crc uint16
	for _, b := range []byte(key) {
		crc ^= uint16(b) << 8
		for range 8 {
			carry := crc&0x8000 != 0
			crc <<= 1
			if carry {
				crc ^= 0x1021
			}
		}
	}
	return int(crc % slots)
}

// refusesOnCluster returns the reason why a user of these commands cannot run on a cluster.
func (s *Server) refusesOnCluster(commands []string) error {
	if s.cluster != nil && !design.OnCluster(commands) {
		return fmt.Errorf("server %s is a Redis Cluster, on which lockbench runs no WATCH: it needs a connection to the node of its key; hint: name a server that is no part of a cluster", s.address)
	}
	return nil
}
