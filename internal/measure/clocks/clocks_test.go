package clocks

import (
	"flag"
	"math"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

// histories is the number of simulated histories; zero is that of the other tests.
var histories = flag.Int("histories", 0, "number of simulated histories")

func worlds() int {
	if *histories > 0 {
		return *histories
	}
	return longtest.Times(200, 1000)
}

// A tally counts pairs of holds on two machines, and pairs that cannot be judged.
type tally struct{ pairs, overlap, apart, undecided, unknown int }

// judge counts the pairs of holds of a world on different machines. It calls f for each that is judged.
func (w *world) judge(f func(a, b held, sa, sb Span)) (t tally) {
	clocks := w.clocks()
	for i, a := range w.holds {
		for _, b := range w.holds[i+1 : min(len(w.holds), i+4)] {
			if a.machine == b.machine {
				continue
			}
			t.pairs++
			if clocks[a.machine] == nil || clocks[b.machine] == nil {
				t.unknown++
				continue
			}
			sa, known := clocks[a.machine].Span(a.Hold)
			sb, alsoKnown := clocks[b.machine].Span(b.Hold)
			if !known || !alsoKnown {
				t.unknown++
				continue
			}
			switch sa.Order(sb) {
			case Overlap:
				t.overlap++
			case Apart:
				t.apart++
			default:
				t.undecided++
			}
			if f != nil {
				f(a, b, sa, sb)
			}
		}
	}
	return t
}

func (t *tally) add(o tally) {
	t.pairs, t.overlap, t.apart = t.pairs+o.pairs, t.overlap+o.overlap, t.apart+o.apart
	t.undecided, t.unknown = t.undecided+o.undecided, t.unknown+o.unknown
}

// wrong returns the number of stamps of a world, where its clocks are known, whose true time is outside of the
// bounds.
func (w *world) wrong(clocks []*Clock) (n int) {
	for i, m := range w.machines {
		c := clocks[i]
		if c == nil {
			continue
		}
		for range 50 {
			at := w.length * w.Float64()
			stamp := int64(m.show(at).mono)
			if least, most, known := c.At(stamp); known && (most < int64(at) || least > int64(at)+2) {
				n++
			}
		}
	}
	return n
}

// TestSoundLocks checks that no sound lock is accused, whatever the clocks do, that true times are within the bounds,
// and that most holds can be told apart.
func TestSoundLocks(t *testing.T) {
	var all tally
	for seed := range worlds() {
		w := newWorld(uint64(seed), 0)
		if n := w.wrong(w.clocks()); n > 0 {
			t.Fatalf("history %d: %d stamps are out of bounds", seed, n)
		}
		got := w.judge(nil)
		if got.overlap > 0 {
			t.Fatalf("history %d: %d overlaps of a sound lock", seed, got.overlap)
		}
		all.add(got)
	}
	t.Logf("%d histories: %+v", worlds(), all)
	if judged := all.pairs - all.unknown; all.apart < judged/3 || judged < all.pairs/2 {
		t.Errorf("of %d pairs, %d are judged and %d told apart", all.pairs, judged, all.apart)
	}
}

// TestRecall checks that each overlap is found that is longer than the bounds are wide, of holds that ended by
// a release, and that each one that is found has happened.
func TestRecall(t *testing.T) {
	var found, of [5]int // by the length of the overlap in halves of the width
	for seed := range worlds() {
		w := newWorld(uint64(seed), ms*0.05*math.Pow(2, float64(seed%8)))
		clocks := w.clocks()
		w.judge(func(a, b held, sa, sb Span) {
			overlap := min(a.end, b.end) - max(a.start, b.start)
			width := float64(max(sa.StartMost-sa.StartLeast+sb.EndMost-sb.EndLeast, sb.StartMost-sb.StartLeast+sa.EndMost-sa.EndLeast))
			is := sa.Order(sb) == Overlap
			endA, _, _ := clocks[a.machine].At(a.End)
			endB, _, _ := clocks[b.machine].At(b.End)
			released := sa.EndLeast == endA && sb.EndLeast == endB
			switch {
			case overlap < -1 && is:
				t.Fatalf("history %d: an overlap of %v was found", seed, time.Duration(overlap))
			case released && overlap > width+10 && !is:
				t.Fatalf("history %d: an overlap of %v was missed within a width of %v: %+v %+v", seed, time.Duration(overlap), time.Duration(width), sa, sb)
			case overlap <= 0:
				return
			}
			i := min(int(2*overlap/width), len(of)-1)
			of[i]++
			if is {
				found[i]++
			}
		})
	}
	for i := range of {
		t.Logf("overlaps of %.1f widths and more: %d of %d found", float64(i)/2, found[i], of[i])
		if of[i] == 0 {
			t.Errorf("there is no overlap of %.1f widths", float64(i)/2)
		}
	}
	if last := len(of) - 1; 10*found[last] < 9*of[last] {
		t.Errorf("of %d overlaps of two widths and more, %d are found", of[last], found[last])
	}
}

// TestFlippedSigns checks that each bound with a wrong sign puts stamps out of bounds.
func TestFlippedSigns(t *testing.T) {
	for i, side := range []string{"upper ahead", "upper behind", "lower ahead", "lower behind"} {
		t.Run(side, func(t *testing.T) {
			upper, lower := slopes{1 + Drift, 1 - Drift}, slopes{1 - Drift, 1 + Drift}
			*[]*float64{&upper.ahead, &upper.behind, &lower.ahead, &lower.behind}[i] = 1 + Drift*[]float64{-1, 1, 1, -1}[i]
			wrong := 0
			for seed := 0; seed < 300 && wrong == 0; seed++ {
				w := newWorld(uint64(seed), 0)
				clocks := w.clocks()
				for k, m := range w.machines {
					if clocks[k] == nil || m.changed < w.length {
						clocks[k] = nil
						continue
					}
					clocks[k].coordinator = newBounds(m.probes, upper, lower)
				}
				wrong += w.wrong(clocks)
			}
			if wrong == 0 {
				t.Error("no stamp is out of bounds")
			}
		})
	}
}

// TestMeter checks windows of clocks that differ by as much as readings permit: the bounds are tight, so that one
// with a wrong sign is wrong.
func TestMeter(t *testing.T) {
	const gap, width = 1_100_000, 110 // ns between two readings, and within one
	const slewed = gap / 22           // over half a gap
	for _, c := range []struct {
		name           string
		readings       []Reading
		least, largest int64
	}{
		{"steady", []Reading{{0, 500, 0, 0}, {gap, 500 + gap, 0, gap}}, 500 - slewed, 500 + slewed},
		{"ahead at the second", []Reading{{0, 500, 0, 0}, {gap, 600 + gap, 0, gap}}, 500 - slewed, 600 + slewed},
		{"behind at the second", []Reading{{0, 500, 0, 0}, {gap, 400 + gap, 0, gap}}, 400 - slewed, 500 + slewed},
		{"read at some time", []Reading{{0, 500, 0, width}, {gap, 500 + gap, 0, gap + width}}, 500 - width - slewed, 500 + slewed},
		{"one long reading", []Reading{{0, 500, 0, gap}, {gap, 500 + gap, 0, gap}}, 500 - gap - 2*slewed, 500 + slewed},
	} {
		var m Meter
		var got []Window
		for _, r := range c.readings {
			m.Add(Reading{r.Before, r.Raw, r.Before, r.After}, nil)
		}
		m.End(func(w Window) { got = append(got, w) })
		const rounding = 2
		if len(got) != 1 || got[0].From != 0 || got[0].Until != gap || got[0].Least > c.least || got[0].Least < c.least-rounding || got[0].Largest < c.largest || got[0].Largest > c.largest+rounding {
			t.Errorf("%s: %+v, want bounds %d and %d", c.name, got, c.least, c.largest)
		}
	}
}

// TestMeterEnds checks that windows follow one another, and that none comes after a change.
func TestMeterEnds(t *testing.T) {
	var m Meter
	var got []Window
	add := func(w Window) { got = append(got, w) }
	const second = int64(1e9)
	for at := int64(0); at < second; at += 1e6 {
		m.Add(Reading{at, at, at, at + 100}, add)
	}
	if len(got) != 9 || got[0].From != 0 || got[8].Until != 9*windowLength {
		t.Errorf("%d windows of a second: %+v", len(got), got)
	}
	m.Add(Reading{second, second, second + 101, second + 100}, add) // 1 ns is no more than the reading takes
	if m.Changed {
		t.Error("a change within a reading")
	}
	m.Add(Reading{second + 1e6, second + 1e6, second + 2e6, second + 1e6 + 100}, add)
	if last := got[len(got)-1]; !m.Changed || len(got) != 10 || last.Until != second {
		t.Errorf("suspended: changed %t, %d windows, the last one %+v", m.Changed, len(got), last)
	}
	for at := second; at < 2*second; at += 1e6 {
		m.Add(Reading{at, at, at + 2e6, at + 100}, add)
	}
	m.End(add)
	if len(got) != 10 {
		t.Errorf("%d windows after a change", len(got)-10)
	}
}

// TestUncorrectedLease checks that a sound lock would be accused if its leases were counted by its owners' clocks.
func TestUncorrectedLease(t *testing.T) {
	accused := 0
	for seed := 0; seed < 300 && accused == 0; seed++ {
		w := newWorld(uint64(seed), 0)
		clocks := w.clocks()
		w.judge(func(a, b held, sa, sb Span) {
			sa.EndLeast, _, _ = clocks[a.machine].At(a.End)
			sb.EndLeast, _, _ = clocks[b.machine].At(b.End)
			if sa.Order(sb) == Overlap {
				accused++
			}
		})
	}
	if accused == 0 {
		t.Error("no lock is accused")
	}
}

// TestSpanOfLease checks that a lease ends by the fastest clock that a server can have, from the call on.
func TestSpanOfLease(t *testing.T) {
	const second = int64(time.Second)
	var probes []Comparison
	for at := int64(0); at <= 3*second; at += 1e6 {
		probes = append(probes, Comparison{at, at, at})
	}
	c := NewClock([]Window{{0, 3 * second, 0, 0}}, probes)
	s, known := c.Span(Hold{Start: second + 1e6, End: 2 * second, Called: second, Lease: time.Second})
	if late := s.EndLeast - (2*second - int64(Drift*float64(second))); !known || late > 0 || late < -3 {
		t.Errorf("known %t, the lease ends %d ns too late: %+v", known, late, s)
	}
	if s, _ := c.Span(Hold{Start: second + 1e6, End: 2 * second, Called: second}); s.EndLeast < 2*second-3 {
		t.Errorf("without a lease: %+v", s)
	}
}

// TestOrder checks the order of spans around each of the four comparisons.
func TestOrder(t *testing.T) {
	a := Span{StartLeast: 10, StartMost: 12, EndLeast: 20, EndMost: 22}
	for _, c := range []struct {
		name string
		b    Span
		want Order
	}{
		{"the same", a, Overlap},
		{"it begins when the other has certainly ended", Span{22, 24, 30, 32}, Apart},
		{"it may begin before the other has ended", Span{21, 24, 30, 32}, Undecided},
		{"it may begin when the other ends", Span{15, 20, 30, 32}, Undecided},
		{"it certainly begins before the other ends", Span{15, 19, 30, 32}, Overlap},
		{"it certainly ends before the other begins", Span{1, 3, 8, 10}, Apart},
		{"it may end after the other begins", Span{1, 3, 8, 11}, Undecided},
		{"it ends when the other may begin", Span{1, 3, 12, 14}, Undecided},
		{"it certainly ends after the other begins", Span{1, 3, 13, 14}, Overlap},
	} {
		if got, back := a.Order(c.b), c.b.Order(a); got != c.want || back != c.want {
			t.Errorf("%s: %d and %d, want %d", c.name, got, back, c.want)
		}
	}
}

// TestConsistent checks where a change of a clock is seen.
func TestConsistent(t *testing.T) {
	steady := []Comparison{{0, 105, 10}, {1000, 1105, 1010}, {2000, 2105, 2010}}
	for _, c := range []struct {
		name  string
		drift float64
		last  Comparison
		want  int
	}{
		{"steady", 0, Comparison{3000, 3105, 3010}, 4},
		{"within the width", 0, Comparison{3000, 3114, 3010}, 4},
		{"ahead by more", 0, Comparison{3000, 3124, 3010}, 3},
		{"behind by more", 0, Comparison{3000, 3086, 3010}, 3},
		{"ahead by drift", 0.01, Comparison{3000, 3124, 3010}, 4},
	} {
		if got := Consistent(append(steady[:3:3], c.last), c.drift); got != c.want {
			t.Errorf("%s: %d comparisons agree, want %d", c.name, got, c.want)
		}
	}
}
