package servers

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

// dialPrimary connects to a server, and fails unless its role is primary.
func dialPrimary(ctx context.Context, network, addr string, opt *redis.Options) (net.Conn, error) {
	conn, err := limitedDialer(opt)(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	role, err := roleOf(ctx, conn, opt)
	if err == nil && role != "" && role != "master" {
		err = fmt.Errorf("it says that it is a %.20q", role)
	}
	if err != nil {
		_ = conn.Close() // it is of no more use
		return nil, err
	}
	return conn, nil
}

// roleOf asks the server of a new connection for its role, such as master or slave. The role is
// empty if this user may not ask or not log in; the user of the connection then gets the same
// error. The connection can be used as a new one, except that it may be logged in.
func roleOf(ctx context.Context, conn net.Conn, opt *redis.Options) (string, error) {
	asking := *opt
	asking.DB, asking.PoolSize, asking.MinIdleConns = 0, 1, 0
	asking.ReadTimeout, asking.WriteTimeout = opt.DialTimeout, opt.DialTimeout
	asking.Dialer = func(context.Context, string, string) (net.Conn, error) { return lent{conn}, nil }
	client := redis.NewClient(&asking)
	defer client.Close()
	answer, err := client.Do(ctx, "ROLE").Slice()
	if isReply(err) {
		err = nil
	}
	if err != nil {
		return "", err
	}
	role := ""
	if len(answer) > 0 {
		role, _ = answer[0].(string)
	}
	return role, conn.SetDeadline(time.Time{})
}

// lent is a connection that stays open when its client is closed.
type lent struct{ net.Conn }

// Close implements [net.Conn].
func (lent) Close() error { return nil }
