package machines

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/lockbench/lockbench/internal/drive/inject"
	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/lib/buildinfo"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

// An Agent makes a share of each run that its coordinator orders. It runs nothing else.
type Agent struct {
	// URL is the address of the NATS server, or of several servers of a cluster, separated by commas.
	URL string
	// Token is the one that the coordinator printed.
	Token string
	// Authority is a file of certificates in PEM that the server's must be signed by, empty for the
	// certificates of the system.
	Authority string
	// History is the folder for the histories, one file for each run.
	History string
	// Say receives lines for people.
	Say func(format string, args ...any)

	conn     *natsgo.Conn
	tls      tls.Config // of connections to the coordinator
	subjects string
	id       string
	share    runinfo.Share
	clock    *comparison
	heard    atomic.Int64 // time of the last answer of the coordinator, on clock

	mu     sync.Mutex
	run    *recording // of the last order, nil before the first
	closed bool       // it takes no more orders
	left   chan leave // receives the message that ends the agent
}

// coordinatorLost is the silence after which an agent gives its coordinator up. Its runs end then.
const coordinatorLost = 5 * time.Second

// ErrCoordinatorLost is the error of an agent whose coordinator is silent. The histories so far are kept.
var ErrCoordinatorLost = errors.New("the coordinator is lost")

// Serve connects to the coordinator and makes the runs that it orders, until the coordinator ends. When ctx
// ends, Serve ends the run under way in good order, and returns when the coordinator has its history. It
// returns an error if the coordinator sends the agent away, is lost, or ends by an error.
func (a *Agent) Serve(ctx context.Context) error {
	if a.Authority != "" {
		text, err := os.ReadFile(a.Authority)
		pool := x509.NewCertPool()
		if err != nil || !pool.AppendCertsFromPEM(text) {
			return errors.Join(fmt.Errorf("--tls-ca %s: no certificates can be read; hint: a file in PEM", a.Authority), err)
		}
		a.tls.RootCAs = pool
	}
	conn, err := a.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	a.conn, a.subjects, a.id, a.clock, a.left = conn, subjects(a.Token), rand.Text(), newComparison(), make(chan leave, 1)
	if err := a.greet(ctx); err != nil {
		return err
	}
	if err := a.listen(); err != nil {
		return err
	}
	err = a.serve(ctx)
	if r := a.close(); r != nil {
		r.othersEnded("nobody tells whether clients of other machines still run")
		r.stop(load.EndedInterrupted)
		<-r.done
		err = errors.Join(err, r.file.Close())
	}
	return err
}

// dial connects to the NATS server.
func (a *Agent) dial(ctx context.Context) (*natsgo.Conn, error) {
	if a.Authority == "" {
		return dial(ctx, a.URL, a.Token)
	}
	return dial(ctx, a.URL, a.Token, natsgo.Secure(a.tls.Clone()))
}

// close makes the agent take no more orders, and returns its last run, nil if there is none.
func (a *Agent) close() *recording {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	return a.run
}

// greet asks the coordinator for a share.
func (a *Agent) greet(ctx context.Context) error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	until := time.Now().Add(comes)
	var w welcome
	err = request(ctx, a.conn, a.subjects+helloVerb, hello{ID: a.id, Version: buildinfo.Version(), Host: host, PID: os.Getpid()}, &w, func() error {
		if time.Now().After(until) {
			return fmt.Errorf("no coordinator with this token answers at %s; hint: the line that it prints has both", shown(a.URL))
		}
		return nil
	})
	if err != nil {
		return err
	}
	a.share = w.Share
	a.heard.Store(a.clock.now())
	a.Say("machine %d of %d", a.share.Index+1, a.share.Of)
	return nil
}

// listen answers the coordinator's requests.
func (a *Agent) listen() error {
	own := a.subjects + a.id + "."
	pulls, err := a.conn.Subscribe(own+pullVerb, a.answerPull)
	if err != nil {
		return err
	}
	return errors.Join(
		pulls.SetPendingLimits(-1, -1),
		serve(a.conn, own+orderVerb, a.take),
		serve(a.conn, own+goVerb, func(s start) (struct{}, error) {
			return of(a, s.Run, func(r *recording) struct{} { r.begin(s.At); return struct{}{} })
		}),
		serve(a.conn, own+stopVerb, func(s stop) (struct{}, error) {
			return of(a, s.Run, func(r *recording) struct{} { r.stop(s.Why); return struct{}{} })
		}),
		serve(a.conn, own+sweepVerb, func(s sweep) (struct{}, error) {
			return of(a, s.Run, func(r *recording) struct{} { r.othersEnded(s.Why); return struct{}{} })
		}),
		serve(a.conn, own+resultVerb, func(q question) (result, error) {
			return of(a, q.Run, (*recording).result)
		}, a.served),
		serve(a.conn, own+effectVerb, func(e effect) (struct{}, error) {
			return of(a, e.Run, func(r *recording) struct{} { r.apply(e); return struct{}{} })
		}),
		serve(a.conn, own+holdingVerb, func(h holding) (inject.Holding, error) {
			return of(a, h.Run, func(r *recording) inject.Holding { return r.holding(h.Wait) })
		}),
		serve(a.conn, own+leaveVerb, func(l leave) (struct{}, error) {
			select {
			case a.left <- l:
			default:
			}
			return struct{}{}, nil
		}),
		a.conn.FlushTimeout(tryTime),
	)
}

// served notes that the coordinator has the result of a run.
func (a *Agent) served(q question) {
	if r := a.last(); r != nil && r.order.Run == q.Run {
		r.served.Store(true)
	}
}

// of calls f for the run of that number.
func of[A any](a *Agent, run int, f func(*recording) A) (answer A, err error) {
	r := a.last()
	if r == nil || r.order.Run != run {
		return answer, fmt.Errorf("run %d is not the last one that was ordered", run)
	}
	return f(r), nil
}

// last returns the run of the last order, nil before the first.
func (a *Agent) last() *recording {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.run
}

// take accepts an order and begins to open its run. A repeated one changes nothing. The coordinator has the
// history of the run before, or it would order no other.
func (a *Agent) take(o order) (accepted, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	was := a.run
	switch {
	case was != nil && was.order.Run == o.Run:
		return accepted{was.order.digest()}, nil
	case a.closed:
		return accepted{}, errors.New("the agent was interrupted")
	case was != nil && !was.hasEnded():
		return accepted{}, fmt.Errorf("run %d was ordered, and run %d has not ended", o.Run, was.order.Run)
	}
	if was != nil {
		if err := was.file.Close(); err != nil {
			return accepted{}, err
		}
		a.run = nil
	}
	r, err := a.record(o)
	if err != nil {
		return accepted{}, err
	}
	a.run = r
	return accepted{o.digest()}, nil
}

// answerPull answers with a block of a history.
func (a *Agent) answerPull(m *natsgo.Msg) {
	reply := natsgo.NewMsg(m.Reply)
	block, whole, err := a.block(m.Data)
	reply.Data = block
	if whole {
		reply.Header.Set(wholeHeader, "1")
	}
	if err != nil {
		reply.Header.Set(errorHeader, err.Error())
	}
	_ = a.conn.PublishMsg(reply) // who asked asks again
}

// serve sends beats until the agent ends.
func (a *Agent) serve(ctx context.Context) error {
	tick := time.NewTicker(beatInterval)
	defer tick.Stop()
	interrupted, leaves := ctx.Done(), false
	for {
		if err := a.beat(leaves); err != nil {
			return err
		}
		if r := a.last(); leaves && (r == nil || r.served.Load()) {
			return errors.Join(context.Canceled, a.conn.FlushTimeout(tryTime))
		}
		if silent := time.Duration(a.clock.now() - a.heard.Load()); silent > coordinatorLost {
			return fmt.Errorf("%w: it was silent for %v; hint: lockbench merge joins the histories of all machines, here in %s", ErrCoordinatorLost, silent.Round(time.Millisecond), a.History)
		}
		select {
		case <-tick.C:
		case l := <-a.left:
			if l.Why != "" {
				return fmt.Errorf("the coordinator ended: %s", l.Why)
			}
			return nil
		case <-interrupted:
			interrupted, leaves = nil, true
			if r := a.close(); r != nil && !r.served.Load() {
				a.Say("interrupted: ending in good order")
				r.stop(load.EndedInterrupted)
			}
		}
	}
}

// beat tells the coordinator how far the last run is and whether the agent leaves, and compares the clocks.
func (a *Agent) beat(leaves bool) error {
	b := beat{ID: a.id, Ahead: a.clock.ahead(), Leaves: leaves}
	_, width, _ := a.clock.difference()
	b.Width = time.Duration(width)
	if r := a.last(); r != nil {
		r.describe(&b)
	}
	sent := a.clock.now()
	var answer instant
	ctx, cancel := context.WithTimeout(context.Background(), tryTime)
	defer cancel()
	err := request(ctx, a.conn, a.subjects+beatVerb, b, &answer, func() error { return errSilent })
	if r := refusal(""); errors.As(err, &r) {
		return err
	}
	if err == nil {
		a.clock.add(sent, answer)
		a.heard.Store(a.clock.now())
	}
	return nil
}

var errSilent = errors.New("no answer")
