package servers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// loadingInterval is how often a server that is loading its data is asked again.
const loadingInterval = 50 * time.Millisecond

// preflight finds out, before ctx ends, whether s can serve a run, and returns
// its version. It writes one key of lockbench's own and removes it.
func preflight(ctx context.Context, s *Server) (string, error) {
	if err := reach(ctx, s); err != nil {
		return "", explain(ctx, s, err)
	}
	client := s.single()
	defer client.Close()
	// The client looks at the deadline of ctx, but not at its being cancelled.
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

// errNotRedis: something answered, but not in the way of a Redis.
var errNotRedis = errors.New("what answers is not a Redis")

// awaitReady pings until the server has loaded its data. Where ctx ends first the error is
// what the server said, even if a ping was under way.
func awaitReady(ctx context.Context, client *redis.Client) error {
	var loading error
	for {
		pong, err := client.Ping(ctx).Result()
		switch {
		case isReply(err, "NOPERM"): // it answers, and so it is there
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

// identify returns the version and refuses what is no primary of its own. A user
// who may not ask, and miniredis, which cannot tell, get by without.
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

// sentinelOf is the error of a server that is a Sentinel, with what that watches.
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

// probe writes and removes a key, since nothing else shows that a server that is
// there also takes writes: it may be read-only or full. What this user may not do [Server.Check]
// finds, by what each design needs.
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
