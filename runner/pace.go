package runner

import "time"

const (
	// slice is how many events are judged at a time while clients are at work.
	slice = 128
	// shortPause lets the clients have the core in between. A goroutine that only
	// offers to yield keeps the scheduler from looking for replies that came in.
	shortPause = 100 * time.Microsecond
	// longPause is after how long a rest is thought over again.
	longPause = 100 * time.Millisecond
	// tooLate is how far behind the run a prompt judgement may be and still pause.
	tooLate = 500 * time.Millisecond

	// leastShare is what the judgement takes, of each core that the clients may use,
	// when they leave it nothing.
	leastShare = 0.02
	// scarce and plenty are how much of a core is idle when the judgement is to take less,
	// and when it may take more; in between it goes on as it does.
	scarce, plenty = 0.10, 0.20
	// muchBehind is how many bytes of history may wait before it takes from the clients
	// what it needs for them not to become more.
	muchBehind = 1 << 30
)

// A pace keeps the judgement of a run out of the way of its clients, with whom it shares
// the processors: it works in slices too short to be noticed in a latency, and rests in
// between for as long as it takes not to use more than its share. That is what the
// clients leave idle. Where they leave nothing it is a fiftieth, and the history waits on
// disk until the run is over.
//
// It has no clock: who uses it measures.
type pace struct {
	// prompt: somebody waits for what is found, so it is judged at once whatever that costs.
	prompt bool
	// share is how much of one core may be used, above 0 and at most 1; zero at the start,
	// which stands for the least there is.
	share float64
	// debt is the work that was not rested for yet.
	debt   time.Duration
	unread int64 // bytes, at the last adaptation
}

// A window is what a stretch of a run was spent on.
type window struct {
	took, own time.Duration // its length, and how much of it was judging
	cores     int           // that the clients may use
	idle      float64       // of those, on average
	unread    int64         // bytes of history that wait at its end
}

// adapt sets the share for what follows by what was.
func (p *pace) adapt(w window) {
	least := min(1, leastShare*float64(w.cores))
	own := w.own.Seconds() / w.took.Seconds()
	switch {
	case w.unread > muchBehind && w.unread >= p.unread:
		p.share *= 1.5
	case w.unread > muchBehind:
	case w.idle < scarce:
		p.share = min(p.share, own) / 2
	case w.idle > plenty:
		p.share = own + w.idle - (scarce+plenty)/2
	}
	p.share, p.unread = max(least, min(p.share, 1)), w.unread
}

// worked notes work since the last rest.
func (p *pace) worked(d time.Duration) { p.debt += d }

// rested notes a rest, which pays for work at the rate of the share.
func (p *pace) rested(d time.Duration) {
	if p.whole() {
		p.debt = 0
		return
	}
	share := max(p.share, leastShare)
	p.debt = max(0, p.debt-time.Duration(float64(d)*share/(1-share)))
}

// owes: the work so far was not rested for.
func (p *pace) owes() bool { return !p.whole() && p.debt > time.Microsecond }

// whole: a core may be used as a whole.
func (p *pace) whole() bool { return p.prompt || p.share >= 1 }

// rest returns for how long to rest now, before it is asked again; zero is to work on.
// The judgement is so far behind the run.
func (p *pace) rest(behind time.Duration) time.Duration {
	switch {
	case p.prompt && behind > tooLate:
		return 0
	case p.whole():
		return shortPause
	}
	share := max(p.share, leastShare)
	due := time.Duration(float64(p.debt) * (1 - share) / share)
	return min(max(due, shortPause), longPause)
}
