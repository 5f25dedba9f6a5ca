package onredis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockbench/lockbench"
)

// clusters maps the clients of designs to the cluster clients that send their commands.
var clusters sync.Map // *redis.Client: *redis.ClusterClient

// ClusterOf returns the cluster client that sends the commands of a client returned by
// [Environment.Connect], nil if the client sends them itself.
func ClusterOf(client *redis.Client) *redis.ClusterClient {
	if cluster, is := clusters.Load(client); is {
		return cluster.(*redis.ClusterClient)
	}
	return nil
}

// behind makes a cluster client send the commands of client. The client's hooks see each command
// once, whatever node it is sent to. A subscription uses a connection of the client itself, to any
// node: the nodes pass messages on to each other. Commands that need a connection of their own for
// their keys, such as WATCH, are not possible.
//
// opt are the options of the client, nodes the known addresses of the cluster.
func behind(client *redis.Client, opt *redis.Options, nodes []string) {
	cluster := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs:                    nodes,
		NewClient:                newNode,
		Dialer:                   opt.Dialer,
		Protocol:                 opt.Protocol,
		Username:                 opt.Username,
		Password:                 opt.Password,
		ClientName:               opt.ClientName,
		MaxRetries:               opt.MaxRetries,
		DialTimeout:              opt.DialTimeout,
		DialerRetries:            opt.DialerRetries,
		ReadTimeout:              opt.ReadTimeout,
		WriteTimeout:             opt.WriteTimeout,
		ContextTimeoutEnabled:    opt.ContextTimeoutEnabled,
		PoolSize:                 opt.PoolSize,
		PoolTimeout:              opt.PoolTimeout,
		MaxIdleConns:             opt.MaxIdleConns,
		MaxActiveConns:           opt.MaxActiveConns,
		ConnMaxIdleTime:          opt.ConnMaxIdleTime,
		ConnMaxLifetime:          opt.ConnMaxLifetime,
		DisableIdentity:          opt.DisableIdentity,
		DisableRoutingPolicies:   true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	client.AddHook(passing{cluster})
	clusters.Store(client, cluster)
}

// leave closes the cluster client of client.
func leave(client *redis.Client) error {
	if cluster, is := clusters.LoadAndDelete(client); is {
		return cluster.(*redis.ClusterClient).Close()
	}
	return nil
}

// anyOf returns a function that dials the first of these addresses that can be dialled.
func anyOf(dial func(context.Context, string, string) (net.Conn, error), addrs []string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (conn net.Conn, err error) {
		for _, addr := range addrs {
			if conn, err = dial(ctx, network, addr); err == nil {
				break
			}
		}
		return conn, err
	}
}

// passing is the hook that sends commands to the cluster. It is the innermost.
type passing struct{ cluster *redis.ClusterClient }

// DialHook implements [redis.Hook].
func (passing) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements [redis.Hook].
func (p passing) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if OfConnection(cmd.Name()) {
			return next(ctx, cmd)
		}
		return p.original(ctx, p.cluster.Process(context.WithValue(ctx, passedKey{}, true), cmd))
	}
}

// ProcessPipelineHook implements [redis.Hook]. It allows only the pipelines that open a connection:
// the cluster client would send parts of others again.
func (passing) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if OfConnection(cmds[0].Name()) {
			return next(ctx, cmds)
		}
		return errPipeline
	}
}

var errPipeline = fmt.Errorf("%w: pipelines and transactions are not possible on a Redis Cluster; hint: send one command after the other, or a script", lockbench.ErrNoEffect)

// original returns err as the connection to the node returned it. A broken connection may mean that
// the cluster has changed, so original makes the client reload the state of the cluster.
func (p passing) original(ctx context.Context, err error) error {
	var f *final
	if errors.As(err, &f) {
		p.cluster.ReloadState(ctx)
		return f.of
	}
	return err
}

// passedKey marks the context of a command that a passing hook has seen.
type passedKey struct{}

// newNode returns the client of one node. The cluster client sends a command again if the
// connection broke after it was sent, which would turn a client's own grant into a refusal; so
// newNode hides such errors from it.
func newNode(opt *redis.Options) *redis.Client {
	node := redis.NewClient(opt)
	node.AddHook(finally{})
	return node
}

// finally is the hook that makes errors of connections final.
type finally struct{}

// DialHook implements [redis.Hook].
func (finally) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements [redis.Hook].
func (finally) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		var reply redis.Error
		if err == nil || ctx.Value(passedKey{}) == nil || errors.As(err, &reply) || errors.Is(err, redis.ErrClosed) {
			return err
		}
		return &final{err}
	}
}

// ProcessPipelineHook implements [redis.Hook].
func (finally) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// A final error does not unwrap to its cause, so that no library tries again.
type final struct{ of error }

// Error implements error.
func (f *final) Error() string { return "the connection failed: " + f.of.Error() }
