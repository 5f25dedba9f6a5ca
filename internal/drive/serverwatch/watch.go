package serverwatch

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
)

// RecordedAs is the client number of servers' incidents in a history.
const RecordedAs = -3

const (
	checkInterval = 100 * time.Millisecond
	// lookTimeout is the time after which a look counts as unanswered.
	lookTimeout = time.Second
	// patience is the time in which a server has to answer its first look.
	patience = 5 * time.Second
	// maxSilence is the longest time without an answer that is no incident, because the network
	// takes some time, too.
	maxSilence = 250 * time.Millisecond
	// aroundDeletion is the time that a deletion of keys may take before the last look that found
	// all keys of the Watcher, and again after the first look that misses no further key. If
	// somebody deletes keys one by one, keys of locks may be the first and the last.
	aroundDeletion = 250 * time.Millisecond
	// maxNotes bounds the notes on one server.
	maxNotes = 8
)

// A Watcher looks at servers every 100 ms until it is stopped.
type Watcher struct {
	record *history.Client
	start  time.Time
	stop   context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	servers []*server
}

// A server is a watched server. Its goroutine writes good and seen with the Watcher's mu held.
type server struct {
	address      string
	look         func(context.Context) (design.Glance, error)
	close        func() error
	lastAnswered time.Time // start of the last answered look
	seen         design.Glance
	deletion     deletion
	notes        []string
	omitted      int   // number of notes beyond maxNotes
	unanswered   bool  // the last look was not answered
	err          error // reason why it cannot be watched at all
}

// A deletion is a time during which keys of the Watcher disappeared. Its end is not recorded yet.
// It is zero if there is none.
type deletion struct{ after, last time.Time } // the last look before it, and the last look that missed a key

// Start begins to watch the user's services, as far as they can be watched, and looks at each once
// before it returns. Their keys are under prefix. record is the history's own client for incidents
// (see RecordedAs). It returns nil if there is nothing to watch.
func Start(ctx context.Context, all []design.Service, prefix string, record *history.Client) *Watcher {
	w := &Watcher{record: record, start: time.Now()}
	for _, s := range partsOf(all) {
		if watched, can := s.(design.Watched); can && s.Kind() == design.External {
			look, closing := watched.Watch(prefix)
			w.servers = append(w.servers, &server{address: s.Address(), look: look, close: closing})
		}
	}
	if len(w.servers) == 0 {
		return nil
	}
	record.HoldBack(w.start) // the first look takes time, too
	for _, s := range w.servers {
		s.err = s.lookFirst(ctx)
	}
	w.certain()
	ctx, w.stop = context.WithCancel(context.WithoutCancel(ctx))
	for _, s := range w.servers {
		if s.err == nil {
			w.done.Go(func() { w.watch(ctx, s) })
		}
	}
	return w
}

// lookFirst looks until s answers, for patience at most: a server that is just being restarted has
// to be watched, too.
func (s *server) lookFirst(ctx context.Context) (err error) {
	for end := time.Now().Add(patience); ; {
		s.lastAnswered = time.Now()
		if s.seen, err = lookAt(ctx, s); err == nil {
			s.seen.Kept = true // there was no key to keep
			return nil
		}
		if time.Now().After(end) || design.Sleep(ctx, checkInterval) != nil {
			return err
		}
	}
}

// partsOf returns the services, with the parts of divided ones in their place.
func partsOf(all []design.Service) (parts []design.Service) {
	for _, s := range all {
		if divided, is := s.(design.Divided); is {
			parts = append(parts, divided.Parts()...)
		} else {
			parts = append(parts, s)
		}
	}
	return parts
}

func lookAt(ctx context.Context, s *server) (design.Glance, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	return s.look(ctx)
}

// watch looks until ctx ends, and then once more: a look that was under way then may have been
// answered before.
func (w *Watcher) watch(ctx context.Context, s *server) {
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	for last := false; !last; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			last = true
		}
		w.lookOnce(context.WithoutCancel(ctx), s)
	}
}

// lookOnce looks at s and records the incidents since the last answered look.
func (w *Watcher) lookOnce(ctx context.Context, s *server) {
	began := time.Now()
	now, err := lookAt(ctx, s)
	if err != nil && time.Since(began) > lookTimeout+maxSilence { // the driver stood still: this tells nothing about the server
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	was := s.unanswered
	if s.unanswered = err != nil; s.unanswered {
		return
	}
	before, last := s.seen, s.lastAnswered
	s.seen, s.lastAnswered = now, began
	away := began.Sub(last)
	change, changed := changeOf(before, now)
	switch {
	case changed:
		w.changed(s, last, change)
	case !now.Kept:
		w.deleted(s, last)
	case s.deletion != deletion{} && began.Sub(s.deletion.last) > aroundDeletion:
		w.deletionOver(s)
	}
	if was && away > maxSilence+checkInterval {
		w.record.FaultSince(last, string(fault.ServerStandstill), int64(away))
		w.addNote(s, last, time.Now(), fmt.Sprintf("it gave no answer for %v", away.Round(time.Millisecond)))
	}
	w.certain()
}

// changed records a change that came after the look at last. w.mu is held.
func (w *Watcher) changed(s *server, last time.Time, c change) {
	w.record.FaultSince(last, fault.Losing, 0)
	for _, note := range c.notes {
		w.record.FaultSince(last, note, 0)
	}
	for _, note := range c.notes {
		w.record.Fault(note, 0)
	}
	w.record.Fault(fault.Loss, 0)
	if c.says != "" {
		w.addNote(s, last, time.Now(), c.says)
	}
}

// deleted records that keys disappeared after the look at last. The deletion goes on until
// deletionOver. w.mu is held.
func (w *Watcher) deleted(s *server, last time.Time) {
	if s.deletion == (deletion{}) {
		s.deletion.after = last
		w.record.FaultSince(last.Add(-aroundDeletion), fault.Losing, 0)
	}
	s.deletion.last = time.Now()
}

// deletionOver records the end of the deletion of s. w.mu is held, or no goroutine runs.
func (w *Watcher) deletionOver(s *server) {
	w.record.Fault(fault.Loss, 0)
	w.addNote(s, s.deletion.after, s.deletion.last, "it lost keys that lockbench had written, as by a flush or a deletion")
	s.deletion = deletion{}
}

// addNote notes an incident of s between two instants. w.mu is held, or no goroutine runs.
func (w *Watcher) addNote(s *server, after, until time.Time, what string) {
	if len(s.notes) == maxNotes {
		s.omitted++
		return
	}
	s.notes = append(s.notes, fmt.Sprintf("%s, between %.2f and %.2f s", what, after.Sub(w.start).Seconds(), until.Sub(w.start).Seconds()))
}

// certain allows readers of the history to see the events from before any incident that may still
// be found. w.mu is held, or no goroutine has started.
func (w *Watcher) certain() {
	until := time.Now()
	for _, s := range w.servers {
		if s.err == nil && s.lastAnswered.Before(until) {
			until = s.lastAnswered
		}
	}
	w.record.HoldBack(until.Add(-aroundDeletion))
}

// Stop ends watching, closes its connections, and returns notes on the servers' incidents for
// people, nil if there were none. A nil Watcher has none.
func (w *Watcher) Stop() (notes []string) {
	if w == nil {
		return nil
	}
	w.stop()
	w.done.Wait()
	for _, s := range w.servers {
		if s.deletion != (deletion{}) {
			w.deletionOver(s)
		}
		if s.unanswered { // nobody knows what it lost since then
			w.record.FaultSince(s.lastAnswered, fault.Losing, 0)
			w.record.Fault(fault.Loss, 0)
		}
		notes = append(notes, s.notesForUser(w.start)...)
		if err := s.close(); err != nil {
			notes = append(notes, fmt.Sprintf("a connection that watches server %s did not close cleanly: %v", s.address, err))
		}
	}
	return notes
}

// notesForUser describes the incidents of s.
func (s *server) notesForUser(start time.Time) (notes []string) {
	if s.err != nil {
		return []string{fmt.Sprintf("server %s was not watched for restarts, failovers and lost data: %v", s.address, s.err)}
	}
	if s.unanswered {
		s.notes = append(s.notes, fmt.Sprintf("it gave no answer from %.2f s to the end", s.lastAnswered.Sub(start).Seconds()))
	}
	if s.omitted > 0 {
		s.notes = append(s.notes, fmt.Sprintf("%d more", s.omitted))
	}
	if len(s.notes) > 0 {
		notes = append(notes, fmt.Sprintf("server %s, by no doing of lockbench: %s. What comes of it counts for the conditions state-loss and failover, and is not held against the lock where nothing else goes wrong",
			s.address, strings.Join(s.notes, "; ")))
	}
	if s.seen.Hidden != "" {
		notes = append(notes, fmt.Sprintf("server %s hides whether it restarts, fails over or evicts (%s): only keys of lockbench's own show that data is lost", s.address, s.seen.Hidden))
	}
	return notes
}
