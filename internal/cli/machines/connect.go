package machines

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	ours "github.com/lockbench/lockbench/internal/service/nats"
)

// subjects returns the prefix of all subjects of the coordinator and the agents with a token.
func subjects(token string) string {
	sum := sha256.Sum256([]byte(token))
	return "lockbench." + hex.EncodeToString(sum[:8]) + "."
}

// options are the options of a connection that outlives breaks. A server of a cluster that stands still is
// left for another within three pings and the time of a connect, which is less than the silence after which
// machines give each other up.
func options(extra ...nats.Option) []nats.Option {
	return append([]nats.Option{
		nats.Name("lockbench"), nats.MaxReconnects(-1), nats.ReconnectWait(100 * time.Millisecond), nats.ReconnectJitter(0, 0),
		nats.PingInterval(500 * time.Millisecond), nats.MaxPingsOutstanding(2), nats.Timeout(tryTime), nats.ReconnectBufSize(-1),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}, extra...)
}

// An answer is the form of answers that are no block: Err, or else JSON.
type answer struct {
	Err  string          `json:",omitempty"`
	Body json.RawMessage `json:",omitempty"`
}

// A refusal is an error that the other side has answered.
type refusal string

func (r refusal) Error() string { return string(r) }

// tryTime bounds one attempt of a request.
const tryTime = time.Second

// send makes one attempt of a request.
func send(ctx context.Context, conn *nats.Conn, subject string, q any) (*nats.Msg, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	return conn.RequestWithContext(ctx, subject, body)
}

// retryPause is the time between two attempts of a request.
const retryPause = 50 * time.Millisecond

// request repeats a request until it is answered or give returns an error, and decodes the answer into a,
// unless that is nil. An error that was answered is a [refusal].
func request(ctx context.Context, conn *nats.Conn, subject string, q, a any, give func() error) error {
	var m *nats.Msg
	for {
		var err error
		if m, err = send(ctx, conn, subject, q); err == nil {
			break
		}
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
		if given := give(); given != nil {
			return given
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryPause):
		}
	}
	var got answer
	if err := json.Unmarshal(m.Data, &got); err != nil {
		return fmt.Errorf("answer to %s: %w", subject, err)
	}
	switch {
	case got.Err != "":
		return refusal(got.Err)
	case a != nil:
		return json.Unmarshal(got.Body, a)
	}
	return nil
}

// serve answers requests to a subject by f, one after the other. It calls after when the answer to
// a question was sent.
func serve[Q, A any](conn *nats.Conn, subject string, f func(Q) (A, error), after ...func(Q)) error {
	_, err := conn.Subscribe(subject, func(m *nats.Msg) {
		var q Q
		var reply answer
		err := json.Unmarshal(m.Data, &q)
		if err == nil {
			var a A
			if a, err = f(q); err == nil {
				reply.Body, err = json.Marshal(a)
			}
		}
		if err != nil {
			reply = answer{Err: err.Error()}
		}
		text, err := json.Marshal(reply)
		if err == nil {
			err = m.Respond(text)
		}
		for _, do := range after {
			if err == nil { // else it is asked again
				do(q)
			}
		}
	})
	return err
}

// comes is how long an agent waits for its coordinator, which may start later.
const comes = time.Minute

// dial connects to a NATS server or cluster of the user's or, with a token, to the server of a coordinator. It
// tries for a minute, unless the server refuses it. The error has no password.
func dial(ctx context.Context, address, token string, extra ...nats.Option) (*nats.Conn, error) {
	if err := checkAddress(address); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, comes)
	defer cancel()
	if token != "" {
		extra = append(extra, ours.Credentials(token))
	}
	for {
		conn, err := nats.Connect(address, options(extra...)...)
		if err == nil {
			return conn, nil
		}
		if errors.Is(err, nats.ErrAuthorization) || !errors.Is(err, nats.ErrNoServers) && !isNetwork(err) {
			return nil, fmt.Errorf("%s: %w; hint: its address and token, as the coordinator prints them", shown(address), err)
		}
		select {
		case <-time.After(retryPause):
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: %w: %w; hint: does the coordinator run there, and can it be reached from here?", shown(address), ctx.Err(), err)
		}
	}
}

// isNetwork reports whether err is of the network, so that a later attempt may succeed.
func isNetwork(err error) bool {
	var failed net.Error
	return errors.As(err, &failed) || errors.Is(err, nats.ErrTimeout)
}

// checkAddress returns an error, without a password, unless address is one of NATS or several.
func checkAddress(addresses string) error {
	for _, address := range strings.Split(addresses, ",") {
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.Hostname() == "" {
			return errors.New("not an address of NATS; hint: nats://HOST:PORT or tls://HOST:PORT, several separated by commas")
		}
	}
	return nil
}

// shown returns addresses without passwords.
func shown(addresses string) string {
	all := strings.Split(addresses, ",")
	for i, address := range all {
		u, _ := url.Parse(strings.TrimSpace(address)) // checkAddress has parsed it
		u.User = nil
		all[i] = u.String()
	}
	return strings.Join(all, ",")
}
