package batching

import (
	"context"
	"crypto/tls"
	"net"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/lockbench/lockbench/impls/design/onredis"
)

// Options returns the options of a client for the server, or the nodes of the cluster, of road.
// Connections use the dialer of road, so that faults injected into connections apply to them as
// well. road is a client that [onredis.Environment.Connect] returned; it must stay open until the
// new client is closed. Caching on the client is off, so RESP2 suffices.
func Options(road *redis.Client) rueidis.ClientOption {
	opt := road.Options()
	option := rueidis.ClientOption{
		InitAddress:       []string{opt.Addr},
		Username:          opt.Username,
		Password:          opt.Password,
		SelectDB:          opt.DB,
		ClientSetInfo:     rueidis.DisableClientSetInfo,
		ForceSingleClient: true,
		DisableRetry:      true,
		DisableCache:      true,
		AlwaysRESP2:       true,
		DialCtxFn: func(ctx context.Context, _ string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return opt.Dialer(ctx, opt.Network, opt.Addr)
		},
	}
	if cluster := onredis.ClusterOf(road); cluster != nil {
		nodes := cluster.Options()
		option.InitAddress, option.ForceSingleClient = nodes.Addrs, false
		option.DialCtxFn = func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return nodes.Dialer(ctx, "tcp", addr)
		}
	}
	return option
}

// A Client is a client of rueidis. Its Do counts commands in the environment's Commands and sends
// them through the environment's Pass. It is safe for concurrent use.
type Client struct {
	rueidis.Client
	env         onredis.Environment
	intercepted bool // commands go through an interceptor
}

// New returns a connected client, or the error of the connection.
func New(env onredis.Environment, opt rueidis.ClientOption) (*Client, error) {
	inner, err := rueidis.NewClient(opt)
	if err != nil {
		return nil, err
	}
	return &Client{Client: inner, env: env, intercepted: env.Interceptor != nil}, nil
}

// Do implements [rueidis.Client].
func (c *Client) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	if !c.intercepted {
		if c.env.Commands != nil {
			c.env.Commands.Add(1)
		}
		return c.Client.Do(ctx, cmd)
	}
	return c.pass(ctx, cmd)
}

// pass sends cmd through the environment's Pass. It is a function apart from Do because the
// variables of its closure are allocated.
func (c *Client) pass(ctx context.Context, cmd rueidis.Completed) (result rueidis.RedisResult) {
	err := c.env.Pass(ctx, func(ctx context.Context) error {
		result = c.Client.Do(ctx, cmd)
		return result.NonRedisError()
	})
	if err != nil {
		return rueidis.NewErrorResult(err)
	}
	return result
}
