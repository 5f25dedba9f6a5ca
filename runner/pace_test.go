package runner

import (
	"math"
	"testing"
	"time"
)

func TestShareIsWhatTheClientsLeave(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	for _, c := range []struct {
		name          string
		share, before float64 // after, and before
		idle, own     float64 // in cores
		cores         int
		unread        int64
		was           int64
	}{
		{name: "all is idle", before: 0.02, share: 0.87, idle: 1, own: 0.02, cores: 1},
		{name: "more than a core is idle", before: 0.5, share: 1, idle: 3, own: 0.5, cores: 4},
		{name: "half is idle", before: 0.02, share: 0.37, idle: 0.5, own: 0.02, cores: 1},
		{name: "it took what was idle", before: 0.37, share: 0.37, idle: 0.15, own: 0.37, cores: 1},
		{name: "it needs less than it may take", before: 0.5, share: 0.75, idle: 0.8, own: 0.1, cores: 1},
		{name: "the clients come back", before: 0.8, share: 0.3, idle: 0, own: 0.6, cores: 1},
		{name: "they take everything", before: 0.03, share: 0.02, idle: 0, own: 0.03, cores: 1},
		{name: "they leave the least there is to be taken", before: 0.02, share: 0.02, idle: 0.1, own: 0.02, cores: 1},
		{name: "they have many cores and take them all", before: 0.2, share: 0.16, idle: 0, own: 0.2, cores: 8},
		{name: "they have a hundred", before: 1, share: 1, idle: 0, own: 1, cores: 100},
		{name: "a little waits", before: 0.02, share: 0.02, idle: 0, own: 0.02, cores: 1, unread: gib / 2, was: gib / 4},
		{name: "much waits, and it becomes more", before: 0.2, share: 0.3, idle: 0, own: 0.2, cores: 1, unread: gib + 2, was: gib + 1},
		{name: "much waits, and it becomes less", before: 0.2, share: 0.2, idle: 0, own: 0.2, cores: 1, unread: gib + 1, was: gib + 2},
		{name: "more than a core is not to be had", before: 0.9, share: 1, idle: 0, own: 0.9, cores: 1, unread: gib + 2, was: gib + 1},
		{name: "nothing is known yet", before: 0, share: 0.02, idle: 0, own: 0.9, cores: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pace{share: c.before, unread: c.was}
			p.adapt(window{took: time.Second, own: time.Duration(c.own * 1e9), cores: c.cores, idle: c.idle, unread: c.unread})
			if math.Abs(p.share-c.share) > 1e-6 || p.unread != c.unread {
				t.Errorf("share %.3f, unread %d; want %.3f, %d", p.share, p.unread, c.share, c.unread)
			}
		})
	}
}

func TestRestPaysForWork(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, c := range []struct {
		name           string
		pace           pace
		behind, worked time.Duration
		want           time.Duration
	}{
		{"a fiftieth", pace{share: 0.02}, 0, ms, 49 * ms},
		{"nothing known yet", pace{}, 0, ms, 49 * ms},
		{"a fiftieth, far behind", pace{share: 0.02}, time.Hour, ms, 49 * ms},
		{"a half", pace{share: 0.5}, 0, ms, ms},
		{"a core", pace{share: 1}, 0, ms, shortPause},
		{"hardly any work", pace{share: 0.5}, 0, 1, shortPause},
		{"much work", pace{share: 0.02}, 0, time.Second, longPause},
		{"somebody waits", pace{share: 0.02, prompt: true}, 0, time.Second, shortPause},
		{"somebody waits, and it is late", pace{share: 0.02, prompt: true}, time.Second, time.Second, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.pace
			p.worked(c.worked)
			if got := p.rest(c.behind); (got - c.want).Abs() > time.Microsecond {
				t.Errorf("rests %v, want %v", got, c.want)
			}
		})
	}
}

// TestPaceKeepsItsShare plays a run: slices of work, rests that end late, and windows.
func TestPaceKeepsItsShare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		clients float64       // what they would use of the core
		late    time.Duration // by which each rest ends
		low, up float64
	}{
		{"the clients take everything", 1, 0, 0.015, 0.025},
		{"rests end late", 1, 3 * time.Millisecond, 0.012, 0.025},
		{"they take half", 0.5, 0, 0.25, 0.5},
		{"they take nothing", 0, 0, 0.6, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p pace
			var now, own, all, began time.Duration
			for now < time.Minute {
				const work = 200 * time.Microsecond
				now, own, all = now+work, own+work, all+work
				p.worked(work)
				for again := true; again; again = p.owes() {
					d := p.rest(0) + c.late
					p.rested(d)
					now += d
				}
				if took := now - began; took > rethink {
					used := own.Seconds() / took.Seconds()
					p.adapt(window{took: took, own: own, cores: 1, idle: max(0, 1-c.clients-used)})
					began, own = now, 0
				}
			}
			if used := all.Seconds() / now.Seconds(); used < c.low || used > c.up {
				t.Errorf("it used %.3f of the core, want %.3f to %.3f", used, c.low, c.up)
			}
		})
	}
}
