package hashreentrant

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/redis/go-redis/v9"
)

// reconnectPause is how long the listener rests after an error.
const reconnectPause = 100 * time.Millisecond

// listener wakes the waiters of a process when a lock is released. It has one
// connection, opened for the first waiter: one goroutine reads from it, and
// another writes, so that subscriptions are sent in the order of requests.
type listener struct {
	process  *notifyProcess
	commands *atomic.Int64 // counts requests; may be nil
	start    sync.Once
	pubsub   *redis.PubSub
	changed  chan struct{} // a topic was joined, left or confirmed

	mu      sync.Mutex
	topics  map[string]*topic // by channel
	pending int               // number of outstanding confirmations
}

// A topic is one channel and the waiters of this process for it. One message wakes
// one waiter, and a waiter that stops waiting wakes the next: so at least one
// always knows the lease of the present owner, although not all of them try at
// each release.
type topic struct {
	wake      chan struct{} // holds one wake-up
	ready     chan struct{} // closed once the server confirmed the subscription
	waiters   int
	asked     bool
	confirmed bool
}

func newListener(p *notifyProcess, commands *atomic.Int64) *listener {
	return &listener{process: p, commands: commands, changed: make(chan struct{}, 1), topics: map[string]*topic{}}
}

func (l *listener) join(channel string) *topic {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.topics[channel]
	if t == nil {
		t = &topic{wake: make(chan struct{}, 1), ready: make(chan struct{})}
		l.topics[channel] = t
		l.start.Do(l.open)
		signal(l.changed)
	}
	t.waiters++
	return t
}

func (l *listener) leave(t *topic) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t.waiters--
	if t.waiters > 0 {
		signal(t.wake)
	} else {
		signal(l.changed)
	}
}

// open starts both goroutines, unless the process is closed.
func (l *listener) open() {
	p := l.process
	if !p.begin() {
		return
	}
	l.pubsub = p.client.Subscribe(p.ctx)
	p.background.Go(l.read)
	p.background.Go(l.write)
	p.background.Done()
}

func (l *listener) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pubsub != nil {
		_ = l.pubsub.Close() // its only error is that it was closed before
	}
}

// write keeps the subscriptions as the waiters need them. The reader handles
// errors: a new connection subscribes to all of them again.
func (l *listener) write() {
	ctx := l.process.ctx
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.changed:
		}
		wanted, unwanted := l.changes()
		switch {
		case len(unwanted) > 0:
			l.count()
			_ = l.pubsub.Unsubscribe(ctx, unwanted...)
		case len(wanted) > 0:
			l.count()
			_ = l.pubsub.Subscribe(ctx, wanted...)
		}
	}
}

// changes returns the channels to subscribe to, or else the channels to
// unsubscribe from. There are none until the server has confirmed the last
// request: the client's lock is held while it writes, so a write must not wait for
// the server. Until then a topic without waiters is kept: its confirmation could
// be taken for a confirmation of the channel's next topic.
func (l *listener) changes() (wanted, unwanted []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending > 0 {
		return nil, nil
	}
	for channel, t := range l.topics {
		if t.waiters > 0 && !t.asked {
			t.asked = true
			wanted = append(wanted, channel)
		}
	}
	for channel, t := range l.topics {
		if len(wanted) == 0 && t.waiters == 0 && (t.confirmed || !t.asked) {
			delete(l.topics, channel)
			unwanted = append(unwanted, channel)
		}
	}
	l.pending = len(wanted) + len(unwanted)
	return wanted, unwanted
}

func (l *listener) count() {
	if l.commands != nil {
		l.commands.Add(1)
	}
}

// read passes messages to the topics until the process is closed.
func (l *listener) read() {
	ctx := l.process.ctx
	for ctx.Err() == nil {
		message, err := l.pubsub.Receive(ctx)
		switch m := message.(type) {
		case *redis.Message:
			l.wake(m.Channel)
		case *redis.Subscription:
			l.confirm(m)
		}
		if err != nil {
			l.disconnected()
			_ = design.Sleep(ctx, reconnectPause)
		}
	}
}

// disconnected records that no confirmation will come any more.
func (l *listener) disconnected() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = 0
	signal(l.changed)
}

func (l *listener) wake(channel string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.topics[channel]; t != nil {
		signal(t.wake)
	}
}

// confirm handles an answer of the server. The first one for a topic shows that
// messages come from now on. A second one follows a new connection: messages sent
// meanwhile are lost, so it counts as a message.
func (l *listener) confirm(m *redis.Subscription) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = max(0, l.pending-1)
	signal(l.changed)
	t := l.topics[m.Channel]
	switch {
	case m.Kind != "subscribe" || t == nil:
	case t.confirmed:
		signal(t.wake)
	default:
		t.confirmed = true
		close(t.ready)
	}
}

// signal leaves a wake-up in c unless there is one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// waiting is one acquire's wait for a channel. A nil topic means that it has not
// waited yet.
type waiting struct {
	listener *listener
	channel  string
	until    time.Time
	topic    *topic
	ready    <-chan struct{} // nil once it was closed
}

// wait returns nil when it is time to try again: once subscribed, at a message,
// and when the owner's remaining lease is over. It returns
// [lockbench.ErrNotAcquired] when the wait is over, and [lockbench.ErrNoEffect]
// with the context's error when ctx ended.
func (w *waiting) wait(ctx context.Context, left time.Duration) error {
	remaining := time.Until(w.until)
	if remaining <= 0 {
		return lockbench.ErrNotAcquired
	}
	if w.topic == nil {
		w.topic = w.listener.join(w.channel)
		w.ready = w.topic.ready
	}
	// The server truncates to milliseconds: the lease is over after the last one.
	timer := time.NewTimer(min(remaining, max(0, left)+time.Millisecond))
	defer timer.Stop()
	select {
	case <-w.ready: // a release may have come before it
		w.ready = nil
	case <-w.topic.wake:
	case <-timer.C:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, ctx.Err())
	}
	return nil
}

func (w *waiting) end() {
	if w.topic != nil {
		w.listener.leave(w.topic)
	}
}
