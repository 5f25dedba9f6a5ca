package batching

import (
	"context"
	"crypto/tls"
	"net"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/lockbench/lockbench/impls/design/onredis"
)

// Options say how to reach the server, or the nodes of the cluster, that road leads to, by road's own dialer: what
// happens to connections on the way happens to these too. Road is a client that
// [onredis.Environment.Connect] returned, and is to be kept until the other is closed.
// There is no client side caching, and so RESP2 will do.
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

// A Client is one of rueidis whose Do counts what it sends in the environment's Commands
// and sends it by the environment's Pass. It is safe for concurrent use.
type Client struct {
	rueidis.Client
	env         onredis.Environment
	intercepted bool // there is something to pass by
}

// New connects, and returns an error of the connection where that cannot be done.
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

// pass sends cmd by the way of the environment. It is apart from Do because what its
// closure shares is allocated.
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
