package servertest

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// A Cluster is a Redis Cluster of primaries, each with a share of the slots, and of replicas.
type Cluster struct {
	Nodes    []*Node // the primaries, in the order of their slots
	Replicas []*Node
}

// StartCluster starts three primaries, the first of them with so many replicas, and returns when
// all agree that all slots are served. A primary that does not answer for a second is replaced.
func StartCluster(t testing.TB, replicas int, config ...string) *Cluster {
	t.Helper()
	const primaries, slots = 3, 16384
	c := &Cluster{}
	ports := map[*Node]string{}
	start := func() *Node {
		bus := FreePort(t)
		n := StartNode(t, append([]string{"cluster-enabled yes", "cluster-config-file nodes.conf", "cluster-node-timeout 1000",
			"cluster-port " + bus, "repl-diskless-sync-delay 0"}, config...)...)
		ports[n] = bus
		return n
	}
	for i := range primaries {
		n := start()
		n.Do(t, "CLUSTER", "ADDSLOTSRANGE", slots*i/primaries, slots*(i+1)/primaries-1)
		n.Do(t, "CLUSTER", "SET-CONFIG-EPOCH", i+1)
		c.Nodes = append(c.Nodes, n)
	}
	for range replicas {
		c.Replicas = append(c.Replicas, start())
	}
	first := c.Nodes[0]
	all := append(append([]*Node{}, c.Nodes...), c.Replicas...)
	for _, n := range all[1:] {
		n.Do(t, "CLUSTER", "MEET", first.Host, first.Port, ports[first])
	}
	c.await(t, all, fmt.Sprintf("cluster_known_nodes:%d", len(all)))
	id := first.Do(t, "CLUSTER", "MYID")
	for _, n := range c.Replicas {
		client := n.Client(t)
		Await(t, func(ctx context.Context) (string, error) { return "", client.Do(ctx, "CLUSTER", "REPLICATE", id).Err() })
		Await(t, func(ctx context.Context) (string, error) {
			info, err := client.Info(ctx, "replication").Result()
			if !strings.Contains(info, "master_link_status:up") {
				return "a link to the primary", err
			}
			return "", err
		})
	}
	c.await(t, all, "cluster_state:ok")
	return c
}

// await waits until all nodes have the line in CLUSTER INFO.
func (c *Cluster) await(t testing.TB, all []*Node, line string) {
	t.Helper()
	for _, n := range all {
		client := n.Client(t)
		Await(t, func(ctx context.Context) (string, error) {
			info, err := client.ClusterInfo(ctx).Result()
			if !strings.Contains(info, line) {
				return fmt.Sprintf("%s at %s: %s", line, n.Addr, info), err
			}
			return "", err
		})
	}
}

// URL returns the address of the cluster, in the form of --server.
func (c *Cluster) URL() string { return "redis://" + c.Nodes[0].Addr + "?addr=" + c.Nodes[1].Addr }
