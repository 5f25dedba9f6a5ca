package servers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// loadingInterval is the interval between pings of a server that is loading its data.
const loadingInterval = 50 * time.Millisecond

// preflight checks, before ctx ends, whether s can serve a run, and returns its version. It
// writes and removes one key of lockbench's own.
func preflight(ctx context.Context, s *Server) (string, error) {
	if err := reach(ctx, s); err != nil {
		return "", explain(ctx, s, err)
	}
	client := s.single()
	defer client.Close()
	// The client checks the deadline of ctx, but not its cancellation.
	defer context.AfterFunc(ctx, func() { _ = client.Close() })()

	if err := awaitReady(ctx, client); err != nil {
		return "", explain(ctx, s, err)
	}
	version, err := identify(ctx, client, s.tag)
	if err == nil {
		err = probe(ctx, client, s.tag)
	}
	if err != nil {
		return "", explain(ctx, s, err)
	}
	return version, nil
}

// errNotRedis means that the answer is not a Redis server's.
var errNotRedis = errors.New("what answers is not a Redis")

// awaitReady pings until the server has loaded its data. If ctx ends first it returns the
// server's error, even if a ping was under way.
func awaitReady(ctx context.Context, client *redis.Client) error {
	var loading error
	for {
		pong, err := client.Ping(ctx).Result()
		switch {
		case isReply(err, "NOPERM"): // it answers, so it is there
			return nil
		case err == nil && pong != "PONG":
			return fmt.Errorf("%w: it says %.40q to PING", errNotRedis, pong)
		case isReply(err, "LOADING"):
			loading = err
		case err != nil && loading != nil && ctx.Err() != nil:
			return loading
		default:
			return err
		}
		select {
		case <-ctx.Done():
			return loading
		case <-time.After(loadingInterval):
		}
	}
}

var (
	errCluster  = errors.New("it is part of a Redis Cluster")
	errSentinel = errors.New("it is a Sentinel")
	errReplica  = errors.New("it is a replica")
)

// identify returns the version, and refuses a server that is no independent primary. It accepts
// a user without the permission to ask, and miniredis, which cannot tell.
func identify(ctx context.Context, client *redis.Client, tag string) (string, error) {
	info, err := serverInfo(ctx, client)
	if err != nil {
		return versionOf(nil), unlessReply(err)
	}
	switch mode := info["redis_mode"]; {
	case mode == "cluster" && tag == "":
		return "", errCluster
	case mode == "sentinel":
		return "", sentinelOf(ctx, client)
	}
	replication, err := infoSection(ctx, client, "replication")
	if err == nil && replication["role"] == "slave" {
		return "", fmt.Errorf("%w of %s:%s", errReplica, replication["master_host"], replication["master_port"])
	}
	return versionOf(info), unlessReply(err)
}

// sentinelOf is the error for a server that is a Sentinel, with the names that it watches.
func sentinelOf(ctx context.Context, client *redis.Client) error {
	opt := *client.Options()
	opt.Dialer = nil
	asked := redis.NewSentinelClient(&opt)
	defer asked.Close()
	names, err := masterNames(ctx, asked)
	if err != nil || len(names) == 0 {
		return errSentinel
	}
	return fmt.Errorf("%w, which watches %s", errSentinel, strings.Join(names, ", "))
}

// probe writes and removes a key, because only a write shows that the server is neither
// read-only nor full. [Server.Check] finds missing permissions for each design.
func probe(ctx context.Context, client *redis.Client, tag string) error {
	key := NewPrefix() + "probe" + tag
	err := client.Set(ctx, key, "", time.Minute).Err()
	if err == nil {
		err = client.Del(ctx, key).Err()
	}
	if isReply(err, "NOPERM") {
		return nil
	}
	return err
}
