package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/impls/design"
)

// sweepTime bounds the removal of the run's keys; sweepLost bounds it after the server was given
// up.
const (
	sweepTime = 10 * time.Second
	sweepLost = time.Second
)

// close ends the run's processes, removes its keys and completes the history.
// Its error says why the record is unreliable.
func (r *run) close(ctx context.Context) error {
	s := &r.summary
	sent := r.totalUsage()
	s.Commands = sent.commands
	if sent.traffic.Connections > 0 && r.cfg.Design.Control != design.OneRequest { // its connections belong to the store
		s.Traffic = &sent.traffic
	}
	s.MonitorOverlaps = r.monitor.Overlaps()
	s.MonitorEntries = r.monitor.Entries()
	r.closeProcesses()
	s.Notes = append(s.Notes, r.clockWatch.Stop()...)
	s.Notes = append(s.Notes, r.serverWatch.Stop()...) // before its keys are swept
	others := r.awaitOthers(ctx)
	r.sumBusiness(ctx)
	r.sweep(ctx, others)
	r.closeRecord()
	r.addNotes()
	return errors.Join(r.problems...)
}

// awaitOthers waits until the clients of other machines have stopped. It returns an error if they may still run.
func (r *run) awaitOthers(ctx context.Context) error {
	if r.cfg.Ended == nil {
		return nil
	}
	return r.cfg.Ended(ctx)
}

// sweep removes the keys of the run even if ctx was cancelled, so that Ctrl-C leaves none behind. It removes none if
// others may use them.
func (r *run) sweep(ctx context.Context, others error) {
	if r.store == nil {
		return
	}
	err := others
	if err == nil {
		err = r.removeKeys(ctx)
		if err != nil && r.cfg.Ended != nil { // another machine may have removed some at the same time
			err = r.removeKeys(ctx)
		}
	}
	if err != nil {
		r.summary.note("keys %s* may be left on the server: %v", r.prefix, err)
	}
	if err := r.store.Close(); err != nil {
		r.summary.note("connections of the store did not close cleanly: %v", err)
	}
}

func (r *run) removeKeys(ctx context.Context) error {
	patience := sweepTime
	if r.summary.Ended == EndedServerLost {
		patience = sweepLost
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	_, err := r.cfg.services().Sweep(ctx, r.prefix)
	if records := r.cfg.records(); records != r.cfg.Services.First() {
		_, more := records.Sweep(ctx, r.prefix)
		err = errors.Join(err, more)
	}
	return err
}

func (r *run) closeRecord() {
	if r.recorder == nil {
		return
	}
	ended := r.summary.Trailer
	r.standstills.stop(&r.summary)
	if err := r.recorder.Close(ended); err != nil {
		r.summary.Ended = EndedUnrecorded
		r.problems = append(r.problems, fmt.Errorf("the history is incomplete: %w", err))
	}
}

// addNotes adds notes that a reader of the summary must not miss.
func (r *run) addNotes() {
	s := &r.summary
	if s.Ended == EndedServerLost {
		s.note("server %s was lost: %v", r.cfg.Services.First().Address(), reasonOr(r.cfg.services().Err(), "it answered nobody for seconds"))
	}
	if given := r.cfg.Design.Lease(s.Options.TTL); given > s.Options.TTL {
		s.note("leases of %v are rounded up to %v by the design", s.Options.TTL, given)
	}
	r.noteClock()
	if s.Grants == 0 {
		s.note("no lock was granted: nothing was measured")
	}
}

// noteClock notes which clock timed a program, and by how much the driver's times are wider.
func (r *run) noteClock() {
	var all []time.Duration
	driver := false
	for _, p := range r.processes.all(0, len(r.processes.byPlace)) {
		if timed, is := p.inner.(design.Stamped); is {
			var widths []time.Duration
			driver, widths = timed.Widths()
			all = append(all, widths...)
		}
	}
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	median := all[len(all)/2].Round(time.Microsecond)
	switch s := &r.summary; {
	case !driver:
		s.note("times are of the adapter's clock; the driver's are wider, by %v at the median", median)
	case s.Options.Hold.Mean() < median:
		s.note("times are the driver's, wider than the adapter's by %v at the median, and holds are shorter: two owners at once may be missed; hint: --stamps adapter", median)
	default:
		s.note("times are the driver's, wider than the adapter's by %v at the median", median)
	}
}

func reasonOr(err error, otherwise string) string {
	if err != nil {
		return err.Error()
	}
	return otherwise
}
