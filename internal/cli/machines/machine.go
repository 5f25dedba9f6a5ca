package machines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
)

// A machine is an agent as the coordinator sees it.
type machine struct {
	of    *Coordinator
	hello hello
	share runinfo.Share

	// Fields guarded by of.mu.
	last   beat
	since  time.Time     // of the last beat
	silent bool          // it is, and that was said
	leaves bool          // it ends because it was interrupted
	copied bool          // no more of the last run's history is asked for
	torn   error         // the reason why a history was not copied completely, nil while all were
	news   chan struct{} // closed and replaced at each beat
}

func newMachine(of *Coordinator, h hello, share runinfo.Share) *machine {
	return &machine{of: of, hello: h, share: share, since: time.Now(), news: make(chan struct{})}
}

// String names the machine in messages.
func (m *machine) String() string {
	return fmt.Sprintf("machine %d (%s, process %d)", m.share.Index+1, m.hello.Host, m.hello.PID)
}

// heard takes a beat. The caller holds m.of.mu.
func (m *machine) heard(b beat) {
	m.last, m.since = b, time.Now()
	m.leaves = m.leaves || b.Leaves
	close(m.news)
	m.news = make(chan struct{})
}

// isSilent reports whether four beats are missing. The caller holds m.of.mu.
func (m *machine) isSilent() bool { return time.Since(m.since) > silentAfter }

// lost returns an error if the machine was silent for so long that it is given up.
func (m *machine) lost() error { return m.silence(lostAfter) }

// silence returns an error if the machine was silent for longer than bound.
func (m *machine) silence(bound time.Duration) error {
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	if silent := time.Since(m.since); silent > bound {
		return fmt.Errorf("%v is lost: it was silent for %v", m, silent.Round(time.Millisecond))
	}
	return nil
}

// unfit returns why the machine can make no other run, nil if it can.
func (m *machine) unfit() error {
	m.of.mu.Lock()
	leaves, torn := m.leaves, m.torn
	m.of.mu.Unlock()
	switch {
	case torn != nil:
		return torn
	case leaves:
		return fmt.Errorf("%v was interrupted", m)
	}
	return m.lost()
}

// awaitFit is unfit, but waits for a silent machine until it comes back or is lost.
func (m *machine) awaitFit() error {
	for m.unfit() == nil && m.silence(silentAfter) != nil {
		time.Sleep(retryPause)
	}
	return m.unfit()
}

// tear notes that a history was not copied completely, and returns the reason.
func (m *machine) tear(why error) error {
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	m.torn = why
	return why
}

// isTorn returns the reason why a history was not copied completely, nil while all were.
func (m *machine) isTorn() error {
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	return m.torn
}

// state returns the machine's last beat, and a channel that is closed by the next one.
func (m *machine) state() (beat, <-chan struct{}) {
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	return m.last, m.news
}

func (m *machine) subject(verb string) string { return m.of.subjects + m.hello.ID + "." + verb }

// ask sends a request until it is answered or give returns an error.
func (m *machine) ask(ctx context.Context, verb string, q, a any, give func() error) error {
	err := request(ctx, m.of.conn, m.subject(verb), q, a, give)
	if r := refusal(""); errors.As(err, &r) {
		return fmt.Errorf("%v: %w", m, err)
	}
	return err
}

// open orders a run, and waits until the machine is ready to begin. It gives up when ctx ends.
func (m *machine) open(ctx, asked context.Context, its order) error {
	its.Share = m.share
	var understood accepted
	if err := m.ask(asked, orderVerb, its, &understood, m.unfit); err != nil {
		return err
	}
	if understood.Digest != its.digest() {
		return fmt.Errorf("%v understood another order than it was given; hint: the same lockbench on all machines", m)
	}
	look := time.NewTicker(beatInterval)
	defer look.Stop()
	for {
		b, news := m.state()
		switch unfit := m.unfit(); {
		case b.Run == its.Run && b.Ended:
			r, err := m.result(asked, its.Run, m.lost)
			return errors.Join(err, r.err(m))
		case b.Run == its.Run && b.Ready:
			return nil
		case unfit != nil:
			return unfit
		}
		select {
		case <-news:
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *machine) begin(ctx context.Context, s start) error {
	return m.ask(ctx, goVerb, s, nil, m.lost)
}

// stop asks once to end a run.
func (m *machine) stop(ctx context.Context, run int, why string) error {
	return m.ask(ctx, stopVerb, stop{Run: run, Why: why}, nil, func() error { return errSilent })
}

// sweep tells once that the clients of a run have stopped on all machines.
func (m *machine) sweep(ctx context.Context, s sweep) error {
	return m.ask(context.WithoutCancel(ctx), sweepVerb, s, nil, func() error { return errSilent })
}

// drop stops a run that will not begin, and waits for its end, so that another one can be ordered.
func (m *machine) drop(ctx context.Context, run int) error {
	err := m.ask(ctx, stopVerb, stop{Run: run, Why: load.EndedInterrupted}, nil, m.lost)
	if err == nil {
		_, err = m.result(ctx, run, m.lost)
	}
	return err
}

// leave ends the agent, if it can be reached. It keeps its histories if there is a reason why, or if one of
// them was not copied completely.
func (m *machine) leave(why string) error {
	m.of.mu.Lock()
	if m.torn != nil && why == "" {
		why = "a history was not copied completely: " + m.torn.Error()
	}
	m.of.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), silentAfter)
	defer cancel()
	return m.ask(ctx, leaveVerb, leave{Why: why}, nil, m.lost)
}

func (m *machine) result(ctx context.Context, run int, give func() error) (r result, err error) {
	err = m.ask(ctx, resultVerb, question{Run: run}, &r, give)
	return r, err
}

// err returns the error of m's share, nil for none.
func (r result) err(m *machine) error {
	if r.Err == "" {
		return nil
	}
	return fmt.Errorf("%v: %s", m, r.Err)
}

// pullPause is the time between two looks for more history.
const pullPause = 50 * time.Millisecond

// setCopied notes whether the history of a run was copied, or will not be.
func (m *machine) setCopied(is bool) {
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	m.copied = is
}

// giveUp returns an error if the machine's history is torn, or if it is lost and no history of another one
// grows. Until then it may come back. All are silent at once if the coordinator's own connection is broken.
func (m *machine) giveUp() error {
	err := m.lost()
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	if m.torn != nil {
		return m.torn
	}
	if slices.ContainsFunc(m.of.machines, func(o *machine) bool { return o != m && !o.copied && time.Since(o.since) <= lostAfter }) {
		return nil
	}
	return err
}

// copy copies the machine's history of a run to w, and returns the outcome of its share.
func (m *machine) copy(ctx context.Context, run int, w io.Writer) runner.Part {
	defer m.setCopied(true)
	failed := func(err error) runner.Part { return runner.Part{Machine: m.about(result{}), Err: m.tear(err)} }
	for offset, length := int64(0), int64(blockSize); ; {
		block, whole, err := m.pull(ctx, pull{Run: run, Offset: offset}, &length)
		if err != nil {
			return failed(err)
		}
		n := 0
		if torn := m.isTorn(); torn != nil {
			return failed(torn)
		}
		if len(block) > 0 {
			n, err = w.Write(block)
		}
		if offset += int64(n); err != nil {
			_ = m.stop(ctx, run, "") // the error of the copy is the reason
			return failed(fmt.Errorf("the copy of the history of %v: %w", m, err))
		}
		if whole {
			break
		}
		if int64(len(block)) < length {
			time.Sleep(pullPause)
		}
	}
	r, err := m.result(ctx, run, m.giveUp)
	part := runner.Part{Machine: m.about(r), Err: errors.Join(err, r.err(m)), Notes: r.Notes}
	if busy := r.Busy; busy != nil && *busy >= results.Saturated {
		part.Notes = append(part.Notes, fmt.Sprintf("%v was saturated: %.0f %% of its processors' time was used, so its clients limit the rate; hint: more machines", m, 100**busy))
	}
	return part
}

// about describes the machine with a result that it gave.
func (m *machine) about(r result) results.Machine {
	its := results.Machine{Name: m.hello.Host, Busy: r.Busy}
	if b, _ := m.state(); b.Width > 0 {
		ahead := b.Ahead.Nanoseconds()
		its.AheadNS = &ahead
	}
	return its
}

// shortest is the length of the blocks that a slow connection gets.
const shortest = 4 << 10

// pull asks for a block of at most length bytes until it is answered or the machine is given up. It makes
// blocks shorter while they do not arrive in time, and then longer again.
func (m *machine) pull(ctx context.Context, q pull, length *int64) (block []byte, whole bool, err error) {
	for {
		q.Length = *length
		var msg *natsgo.Msg
		if msg, err = send(ctx, m.of.conn, m.subject(pullVerb), q); err == nil {
			if refused := msg.Header.Get(errorHeader); refused != "" {
				return nil, false, fmt.Errorf("%v: %s", m, refused)
			}
			if int64(len(msg.Data)) == *length {
				*length = min(2**length, blockSize)
			}
			return msg.Data, msg.Header.Get(wholeHeader) != "", nil
		}
		if errors.Is(err, context.DeadlineExceeded) {
			*length = max(*length/2, shortest)
		}
		if given := m.giveUp(); given != nil {
			return nil, false, given
		}
		time.Sleep(retryPause)
	}
}
