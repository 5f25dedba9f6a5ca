package servers

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
)

// watchedTTL is how long a key of a [Server.Watch] outlives its last renewal, which comes every
// watchedKeys looks.
const watchedTTL = time.Minute

// watchedKeys is the number of keys of a [Server.Watch]. If all keys of a server are deleted one by
// one, one of these goes, as a rule, within the first hundredth of the time that this takes.
const watchedKeys = 128

// Watch implements [design.Watched]. A look reads INFO and all keys of the watch, and writes the
// next key in turn, in one round trip. Then it writes the keys that were missing.
func (s *Server) Watch(prefix string) (look func(ctx context.Context) (design.Glance, error), close func() error) {
	w := &watched{server: s, client: s.single()}
	for i := range w.keys { // from all over the alphabet, for a deletion in its order
		w.keys[i] = fmt.Sprintf("%s%c-watched-%d%s", prefix, 'a'+i%26, i, s.tag)
	}
	return w.look, func() error {
		if w.former != nil {
			_ = w.former.Close() // its server may be gone
		}
		return w.client.Close()
	}
}

// watched is the state of a [Server.Watch] and the keys that looks read and write.
type watched struct {
	server *Server
	client *redis.Client
	former *redis.Client // behind Sentinel, of the primary before, while that still serves
	run    string        // of the primary at the last look
	keys   [watchedKeys]string
	wrote  [watchedKeys]bool // the server has the key, as far as is known
	turn   int               // key that the next look writes in any case
	missed bool              // a key was gone at a look that did not end
}

// look replaces the client after an error: after a failed dial the client library fails for another
// second. Behind Sentinel each look has a new client, which connects to the primary that the sentinels name
// then. A connection to the primary before may work for some seconds more.
func (w *watched) look(ctx context.Context) (design.Glance, error) {
	last := w.client
	if w.server.sentinels != nil {
		w.client = w.server.single()
	}
	g, err := w.glance(ctx)
	switch {
	case err != nil:
		_ = w.client.Close() // it is of no more use
		if w.client == last {
			w.client = w.server.single()
		} else {
			w.client = last
		}
	case w.client == last:
	case g.Run == w.run || w.run == "":
		_ = last.Close() // it may be broken
	default:
		w.replace(last)
	}
	if err == nil {
		w.run = g.Run
		g.Rival = w.rival(ctx)
	}
	return g, err
}

// replace sets the client of the primary before.
func (w *watched) replace(former *redis.Client) {
	if w.former != nil {
		_ = w.former.Close() // its server may be gone
	}
	w.former = former
}

// rival reports whether the primary before still is one. Its client is closed when it is none.
func (w *watched) rival(ctx context.Context) bool {
	if w.former == nil {
		return false
	}
	var info *redis.StringCmd
	_, err := w.former.Pipelined(ctx, func(p redis.Pipeliner) error { // a pipeline has the connection of the look
		info = p.Info(ctx)
		return nil
	})
	fields := fieldsOf(info.Val())
	// If the connection broke, the client has connected to the primary of now.
	if err == nil && fields["role"] == "master" && fields["run_id"] != w.run {
		return true
	}
	w.replace(nil)
	return false
}

func (w *watched) glance(ctx context.Context) (design.Glance, error) {
	var found *redis.SliceCmd
	var info *redis.StringCmd
	var wrote *redis.StatusCmd
	err := w.send(ctx, func(p redis.Pipeliner) {
		found, info = p.MGet(ctx, w.keys[:]...), p.Info(ctx)
		wrote = p.Set(ctx, w.keys[w.turn], "1", watchedTTL)
	})
	if err != nil {
		return design.Glance{}, err
	}
	for i, value := range found.Val() {
		if value == nil && w.wrote[i] {
			w.missed, w.wrote[i] = true, false
		}
	}
	w.wrote[w.turn] = wrote.Err() == nil
	w.turn = (w.turn + 1) % watchedKeys
	if wrote.Err() == nil {
		if err := w.restore(ctx); err != nil {
			return design.Glance{}, err
		}
	}
	g := design.Glance{Kept: !w.missed}
	w.missed = false
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

// restore writes the keys that the server does not have, in batches that a server can take without
// sending an answer.
func (w *watched) restore(ctx context.Context) error {
	missing := make([]int, 0, watchedKeys)
	for i, has := range w.wrote {
		if !has {
			missing = append(missing, i)
		}
	}
	for batch := range slices.Chunk(missing, 16) {
		wrote := make([]*redis.StatusCmd, len(batch))
		err := w.send(ctx, func(p redis.Pipeliner) {
			for n, i := range batch {
				wrote[n] = p.Set(ctx, w.keys[i], "1", watchedTTL)
			}
		})
		if err != nil {
			return err
		}
		for n, i := range batch {
			w.wrote[i] = wrote[n].Err() == nil
		}
	}
	return nil
}

// send sends commands in one round trip. A command that the server refuses is no error, unless the
// server is loading its data.
func (w *watched) send(ctx context.Context, add func(redis.Pipeliner)) error {
	sent, _ := w.client.Pipelined(ctx, func(p redis.Pipeliner) error { add(p); return nil })
	for _, cmd := range sent { // Pipelined returns only the first error
		if err := cmd.Err(); err != nil && !isReply(err) || isReply(err, "LOADING") {
			return err
		}
	}
	return nil
}
