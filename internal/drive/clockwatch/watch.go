package clockwatch

import (
	"context"
	"sync"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/clocks"
)

// RecordedAs is the client number of comparisons of clocks in a history.
const RecordedAs = -4

const (
	readInterval  = time.Millisecond
	probeInterval = 20 * time.Millisecond
	// readTries is the number of readings, of which the one that took the shortest time counts.
	readTries = 3
	// shortRead is the time of a reading after which there is no other try.
	shortRead = int64(2 * time.Microsecond)
	// lastPatience bounds the wait for the answer to the last question.
	lastPatience = 2 * time.Second
)

// A Watcher records comparisons of clocks. Its methods do nothing to a nil one.
type Watcher struct {
	base      time.Time // of the stamps
	raw, boot int64     // readings that count as zero
	record    *history.Client
	common    func(context.Context) (int64, error)

	asking, reading      sync.WaitGroup
	stopAsking, stopRead chan struct{}
	meter                clocks.Meter
}

// Start begins to record. Stamps of the history count from base. record is the history's own client for comparisons
// (see RecordedAs). common asks for the clock that all machines know, in ns.
func Start(base time.Time, record *history.Client, common func(context.Context) (int64, error)) *Watcher {
	w := &Watcher{base: base, raw: Raw(), boot: boot(), record: record, common: common, stopAsking: make(chan struct{}), stopRead: make(chan struct{})}
	w.reading.Go(w.read)
	w.asking.Go(w.ask)
	return w
}

// Stop ends the recording after a last question. It returns notes for the user.
func (w *Watcher) Stop() (notes []string) {
	if w == nil {
		return nil
	}
	close(w.stopAsking)
	w.asking.Wait()
	close(w.stopRead) // the windows reach beyond the last answer
	w.reading.Wait()
	if w.meter.Changed {
		notes = append(notes, "the machine was suspended, or one of its clocks was changed: from then on its clock is not compared with those of others")
	}
	return notes
}

// ask asks for the common clock until stopAsking is closed, and then until it is answered once more.
func (w *Watcher) ask() {
	tick := time.NewTicker(probeInterval)
	defer tick.Stop()
	for last := false; !last; {
		w.probe(context.Background())
		select {
		case <-tick.C:
		case <-w.stopAsking:
			last = true
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastPatience)
	defer cancel()
	for answered := false; !answered && ctx.Err() == nil; answered = w.probe(ctx) {
		time.Sleep(probeInterval) // the last operation was earlier by more than what is not known of the raw clock
	}
}

// probe asks for the common clock once, and reports whether it was answered.
func (w *Watcher) probe(ctx context.Context) bool {
	sent := Raw()
	answer, err := w.common(ctx)
	took := Raw() - sent
	if err == nil {
		w.record.Probe(sent-w.raw, answer, took)
	}
	return err == nil
}

// read reads the clocks of the machine until stopRead is closed.
func (w *Watcher) read() {
	record := func(of clocks.Window) { w.record.Clock(of.From, of.Until, of.Least, of.Largest) }
	pause := time.NewTimer(readInterval) // a ticker would make up for what is late by short times, which make many windows
	defer pause.Stop()
	for last := false; !last; {
		w.meter.Add(w.readOnce(), record)
		pause.Reset(readInterval)
		select {
		case <-pause.C:
		case <-w.stopRead:
			last = true
		}
	}
	w.meter.Add(w.readOnce(), record)
	w.meter.End(record)
}

// readOnce returns the best of some readings.
func (w *Watcher) readOnce() (best clocks.Reading) {
	for try := range readTries {
		r := clocks.Reading{Before: w.stamp(), Raw: Raw() - w.raw, Boot: boot() - w.boot}
		r.After = w.stamp()
		if try == 0 || r.After-r.Before < best.After-best.Before {
			best = r
		}
		if best.After-best.Before <= shortRead {
			break
		}
	}
	return best
}

func (w *Watcher) stamp() int64 { return int64(time.Since(w.base)) }
