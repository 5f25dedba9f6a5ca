package etcd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/lockbench/lockbench/impls/design"
)

const (
	dialTimeout = 2 * time.Second
	// patience is how long a request waits for its reply: longer than a fault keeps a server silent.
	patience = 5 * time.Second
	// longestReply bounds the bytes of a reply that are read.
	longestReply = 1 << 20
)

// A client sends requests, on connections of its own.
type client struct {
	host string
	user *url.Userinfo // nil if the server asks for none
	http http.Client

	mu    sync.Mutex
	token string // proves who the user is; empty before the first request
}

func newClient(host string, user *url.Userinfo, dial design.Dial) *client {
	return &client{host: host, user: user, http: http.Client{Transport: &http.Transport{DialContext: dial}}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// A refusal is an error that the server answered with. The request had no effect.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// hadNoEffect reports whether err shows that the server did nothing: it refused the request, or did not
// get it.
func hadNoEffect(err error) bool {
	var refused *refusal
	var unsent *net.OpError
	return errors.As(err, &refused) || errors.As(err, &unsent) && unsent.Op == "dial"
}

// call sends a request as a user, and reads the answer into the value that into points to.
func (c *client) call(ctx context.Context, path string, ask, into any) error {
	const tries = 2 // the server forgets the proof of a user by and by
	var err error
	for range tries {
		var token string
		if token, err = c.proof(ctx); err != nil {
			return err
		}
		err = c.send(ctx, http.MethodPost, path, token, ask, into)
		var refused *refusal
		if token == "" || !errors.As(err, &refused) || refused.status != http.StatusUnauthorized {
			return err
		}
		c.mu.Lock()
		c.token = ""
		c.mu.Unlock()
	}
	return err
}

// proof returns a token that proves who the user is, empty if there is none.
func (c *client) proof(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.user == nil || c.token != "" {
		return c.token, nil
	}
	password, _ := c.user.Password()
	var got struct{ Token string }
	err := c.send(ctx, http.MethodPost, "/v3/auth/authenticate", "", map[string]string{"name": c.user.Username(), "password": password}, &got)
	if err != nil {
		return "", fmt.Errorf("authenticate user %s: %w", c.user.Username(), err)
	}
	c.token = got.Token
	return got.Token, nil
}

// send sends one request.
func (c *client) send(ctx context.Context, method, path, token string, ask, into any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	body, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+c.host+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if token != "" {
		request.Header.Set("Authorization", token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, longestReply))
	if err == nil && response.StatusCode != http.StatusOK {
		err = failure(response.StatusCode, text)
	} else if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// failure returns the error of a reply that is not OK.
func failure(status int, text []byte) error {
	var said struct{ Error, Message string } // the second in 3.6 and later
	if err := json.Unmarshal(text, &said); err != nil || said.Error+said.Message == "" {
		said.Error = fmt.Sprintf("%s: %.200q", http.StatusText(status), text)
	}
	if said.Error == "" {
		said.Error = said.Message
	}
	if status < 400 || status > 499 || status == http.StatusRequestTimeout { // it may have acted
		return errors.New(said.Error)
	}
	return &refusal{status, said.Error}
}

// A span is a key, or the keys from Key to before End.
type span struct {
	Key []byte `json:"key"`
	End []byte `json:"range_end,omitempty"`
}

// below returns the span of the keys that begin with prefix, which is not empty and does not end with the
// largest byte.
func below(prefix string) span {
	end := []byte(prefix)
	end[len(end)-1]++
	return span{[]byte(prefix), end}
}

// A put writes a key.
type put struct {
	Key   []byte `json:"key"`
	Value []byte `json:"value"`
}

// An operation is a part of a transaction; one field is set.
type operation struct {
	Put    *put  `json:"request_put,omitempty"`
	Range  *span `json:"request_range,omitempty"`
	Delete *span `json:"request_delete_range,omitempty"`
}

// A condition is one on the revision of the last write of a key, zero if it is not there.
type condition struct {
	Key    []byte `json:"key"`
	Target string `json:"target"` // always MOD
	Result string `json:"result"` // EQUAL or LESS
	Mod    int64  `json:"mod_revision,string"`
}

// A transaction does the operations of Then if the conditions hold.
type transaction struct {
	If   []condition `json:"compare"`
	Then []operation `json:"success"`
}

// transact reports whether the conditions of a transaction held.
func (c *client) transact(ctx context.Context, t transaction) (held bool, err error) {
	var got struct{ Succeeded bool }
	err = c.call(ctx, "/v3/kv/txn", t, &got)
	return got.Succeeded, err
}

// get returns the value of a key, and the revision of its last write, zero if it is not there.
func (c *client) get(ctx context.Context, key string) (value []byte, mod int64, err error) {
	var got struct {
		KVs []struct {
			Value []byte
			Mod   int64 `json:"mod_revision,string"`
		}
	}
	if err := c.call(ctx, "/v3/kv/range", span{Key: []byte(key)}, &got); err != nil || len(got.KVs) == 0 {
		return nil, 0, err
	}
	return got.KVs[0].Value, got.KVs[0].Mod, nil
}

// names returns the keys that begin with prefix.
func (c *client) names(ctx context.Context, prefix string) (names []string, err error) {
	var got struct{ KVs []struct{ Key []byte } }
	err = c.call(ctx, "/v3/kv/range", struct {
		span
		KeysOnly bool `json:"keys_only"`
	}{below(prefix), true}, &got)
	for _, kv := range got.KVs {
		names = append(names, string(kv.Key))
	}
	return names, err
}

// healthy returns nil if the server answers, and can write.
func (c *client) healthy(ctx context.Context) error {
	var got struct{ Health, Reason string }
	err := c.send(ctx, http.MethodGet, "/health", "", nil, &got)
	if err == nil && got.Health != "true" {
		err = fmt.Errorf("health %q: %s", got.Health, got.Reason)
	}
	return err
}
