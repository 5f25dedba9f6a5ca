package ui

import (
	"math"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/measure/series"
)

// bar is a share of 0 to 1 as a line of width cells. It is full only at 1.
func bar(share float64, width int) string {
	full := int(min(1, max(0, share)) * float64(width))
	return strings.Repeat("━", full) + strings.Repeat("╌", max(0, width-full))
}

// steps are the heights of a curve, from none to the highest.
var steps = []rune("▁▂▃▄▅▆▇█")

// narrowest is the least time for a cell of a curve, and recent the time meant by "now":
// with less, the rate would be noise.
const (
	narrowest = 320 * time.Millisecond
	recent    = 1280 * time.Millisecond
)

// spark draws the events of c over time, up to until, in at most so many cells. The
// highest cell has the most events; the last one is left out until it is complete.
func spark(c series.Counts, until time.Duration, cells int) string {
	n := cellsOf(c, until, narrowest)
	for len(n) > max(cells, 0) {
		n = halved(n)
	}
	most := int64(0)
	for _, v := range n {
		most = max(most, v)
	}
	var b strings.Builder
	for _, v := range n {
		b.WriteRune(steps[height(v, most)])
	}
	return b.String()
}

func height(v, most int64) int {
	if most == 0 {
		return 0
	}
	return int(math.Round(float64(v) / float64(most) * float64(len(steps)-1)))
}

// cellsOf returns the counts of c up to a time in complete parts of equal width: the
// width of a bucket of c, and at least width.
func cellsOf(c series.Counts, until, width time.Duration) []int64 {
	if c.Width == 0 {
		return nil
	}
	c = c.Widened(max(c.Width, int64(width)))
	n := make([]int64, int64(until)/c.Width)
	copy(n, c.N)
	return n
}

// halved joins neighbours; a part without a neighbour is incomplete, and left out.
func halved(n []int64) []int64 {
	half := make([]int64, len(n)/2)
	for i := range half {
		half[i] = n[2*i] + n[2*i+1]
	}
	return half
}

// pace returns the recent grants per second, and the mean of the run so far.
func pace(r *Run) (now, mean float64) {
	elapsed := r.Elapsed
	if r.Length > 0 {
		elapsed = min(elapsed, r.Length)
	}
	mean = perSecond(r.Grants, elapsed)
	if r.Rate.Width == 0 || elapsed < recent {
		return mean, mean
	}
	width := time.Duration(r.Rate.Width)
	to := int(elapsed / width)
	from := max(0, to-int(max(1, recent/width)))
	var n int64
	for i := from; i < min(to, len(r.Rate.N)); i++ {
		n += r.Rate.N[i]
	}
	return perSecond(n, time.Duration(to-from)*width), mean
}

func perSecond(n int64, in time.Duration) float64 {
	if in <= 0 {
		return 0
	}
	return float64(n) / in.Seconds()
}
