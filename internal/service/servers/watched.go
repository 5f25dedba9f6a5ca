package servers

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
)

// watchedTTL is how long the key of a [Server.Watch] outlives its last look.
const watchedTTL = time.Minute

// Watch implements [design.Watched]. A look reads INFO, and reads and rewrites its key, in one
// round trip.
func (s *Server) Watch(prefix string) (look func(ctx context.Context) (design.Glance, error), close func() error) {
	w := &watched{server: s, client: s.single(), key: prefix + "watched" + s.tag}
	return w.look, func() error { return w.client.Close() }
}

// watched is the state of a [Server.Watch] and the key that looks read and write.
type watched struct {
	server *Server
	client *redis.Client
	key    string
	wrote  bool // whether the last look wrote the key
}

// look replaces the client after an error: after a failed dial the client library fails for another
// second.
func (w *watched) look(ctx context.Context) (design.Glance, error) {
	g, err := w.glance(ctx)
	if err != nil {
		_ = w.client.Close() // it is of no more use
		w.client = w.server.single()
	}
	return g, err
}

func (w *watched) glance(ctx context.Context) (design.Glance, error) {
	var kept *redis.StringCmd
	var wrote *redis.StatusCmd
	var info *redis.StringCmd
	_, err := w.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		kept, info = p.Get(ctx, w.key), p.Info(ctx)
		wrote = p.Set(ctx, w.key, "1", watchedTTL)
		return nil
	})
	if err != nil && !isReply(err) && !errors.Is(err, redis.Nil) {
		return design.Glance{}, err
	}
	for _, each := range []error{kept.Err(), info.Err(), wrote.Err()} { // the pipeline returns only the first error
		if each != nil && !isReply(each) && !errors.Is(each, redis.Nil) || isReply(each, "LOADING") {
			return design.Glance{}, each
		}
	}
	g := design.Glance{Kept: !w.wrote || !errors.Is(kept.Err(), redis.Nil)}
	w.wrote = wrote.Err() == nil
	if info.Err() != nil {
		g.Hidden = info.Err().Error()
		return g, nil
	}
	fields := fieldsOf(info.Val())
	g.Run, g.Role, g.Data, g.Ancestor = fields["run_id"], fields["role"], fields["master_replid"], fields["master_replid2"]
	g.Evicted, _ = strconv.ParseInt(fields["evicted_keys"], 10, 64) // a server without the field has evicted nothing
	if g.Run == "" {
		g.Hidden = "INFO has no run_id"
	}
	return g, nil
}
