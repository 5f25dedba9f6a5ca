package servers

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
)

// watchedTTL is how long a key of a [Server.Watch] outlives its last renewal, which comes every
// watchedKeys looks.
const watchedTTL = time.Minute

// watchedKeys is the number of keys of a [Server.Watch]. Somebody who deletes all keys of a server
// one by one deletes, as a rule, one of them within the first hundredth of that time.
const watchedKeys = 128

// Watch implements [design.Watched]. A look reads INFO and all of its keys, and writes those that
// were missing before and the next in turn, in one round trip.
func (s *Server) Watch(prefix string) (look func(ctx context.Context) (design.Glance, error), close func() error) {
	w := &watched{server: s, client: s.single()}
	for i := range w.keys { // from all over the alphabet, for a deletion in its order
		w.keys[i] = fmt.Sprintf("%s%c-watched-%d%s", prefix, 'a'+i%26, i, s.tag)
	}
	return w.look, func() error { return w.client.Close() }
}

// watched is the state of a [Server.Watch] and the keys that looks read and write.
type watched struct {
	server *Server
	client *redis.Client
	keys   [watchedKeys]string
	wrote  [watchedKeys]bool // the server has the key, as far as is known
	turn   int               // key that the next look writes in any case
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
	var found *redis.SliceCmd
	var info *redis.StringCmd
	wrote := map[int]*redis.StatusCmd{}
	_, err := w.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		found, info = p.MGet(ctx, w.keys[:]...), p.Info(ctx)
		for i := range w.keys {
			if !w.wrote[i] || i == w.turn {
				wrote[i] = p.Set(ctx, w.keys[i], "1", watchedTTL)
			}
		}
		return nil
	})
	if err != nil && !isReply(err) {
		return design.Glance{}, err
	}
	answers := []error{found.Err(), info.Err()} // the pipeline returns only the first error
	for _, each := range wrote {
		answers = append(answers, each.Err())
	}
	for _, each := range answers {
		if each != nil && !isReply(each) || isReply(each, "LOADING") {
			return design.Glance{}, each
		}
	}
	g := design.Glance{Kept: true}
	for i, value := range found.Val() {
		if value == nil && w.wrote[i] {
			g.Kept, w.wrote[i] = false, false
		}
	}
	for i, each := range wrote {
		w.wrote[i] = each.Err() == nil
	}
	w.turn = (w.turn + 1) % watchedKeys
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
