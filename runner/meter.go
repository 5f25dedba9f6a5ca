package runner

import (
	"runtime"
	"time"

	"github.com/lockbench/lockbench/internal/processor"
)

// rethink is how often the judgement of a run looks what it leaves to the clients.
const rethink = 250 * time.Millisecond

// A meter measures, window by window, what a judgement of its own did and how much of the
// cores nobody used meanwhile.
type meter struct {
	began, resumed       time.Time // the window, and the work after the last rest
	own                  time.Duration
	waited               time.Duration // for something to judge, since the work was resumed
	used, idle           time.Duration
	knowsUsed, knowsIdle bool // the system says how much was used, and how much idle
}

func (m *meter) begin() {
	m.began = time.Now()
	m.resumed, m.own = m.began, 0
	m.read()
}

// read notes how much was used and idle by now.
func (m *meter) read() {
	var err error
	m.used, err = processor.Used()
	m.knowsUsed = err == nil
	m.idle, err = processor.Idle()
	m.knowsIdle = err == nil
}

// worked returns how long the judgement worked since it rested the last time.
func (m *meter) worked() time.Duration {
	now := time.Now()
	d := max(0, now.Sub(m.resumed)-m.waited)
	m.own += d
	m.resumed, m.waited = now, 0
	return d
}

// rested returns for how long it has done nothing since.
func (m *meter) rested() time.Duration {
	now := time.Now()
	d := now.Sub(m.resumed)
	m.resumed = now
	return d
}

// window returns what became of the time since the last one, once that is long enough.
func (m *meter) window() (w window, over bool) {
	before := *m
	w.took = time.Since(m.began)
	if w.took < rethink {
		return w, false
	}
	m.read()
	w.own, w.cores = m.own, runtime.GOMAXPROCS(0)
	if before.knowsUsed && m.knowsUsed { // who does not say is taken to leave nothing
		w.idle = float64(w.cores) - (m.used-before.used).Seconds()/w.took.Seconds()
	}
	if before.knowsIdle && m.knowsIdle { // others than the clients may be at work, too
		w.idle = min(w.idle, (m.idle-before.idle).Seconds()/w.took.Seconds())
	}
	w.idle = max(0, w.idle)
	m.began, m.own = m.began.Add(w.took), 0
	return w, true
}
