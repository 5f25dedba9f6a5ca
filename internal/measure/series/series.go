package series

import "slices"

const (
	// Buckets is the largest number of buckets of a series.
	Buckets = 256
	// Narrowest is the initial width of buckets in ns. All widths are this, doubled
	// some times.
	Narrowest = int64(10_000_000)
)

// Counts counts events by time. The zero value is ready to use; it is not safe for
// concurrent use. Two Counts of the same events are equal, whatever the order and
// the merges.
type Counts struct {
	// Width is the width of each bucket in ns, zero if there is none. The first
	// begins at stamp zero.
	Width int64
	// N has the events of each bucket, up to the last that has any.
	N []int64
}

// Add counts n more events at a stamp in ns; stamps below zero count as zero.
func (c *Counts) Add(at, n int64) {
	if n > 0 {
		*c.bucket(at) += n
	}
}

// Merge adds the counts of another series.
func (c *Counts) Merge(o Counts) { c.merge(o, sum) }

// Widened returns the series with buckets of the given width, which must be the
// width of another series. It returns an empty series, and one with wider buckets,
// unchanged.
func (c Counts) Widened(width int64) Counts {
	c.N = slices.Clone(c.N)
	c.widen(width, sum)
	return c
}

// Peaks keeps the highest value by time; otherwise it is like Counts.
type Peaks Counts

// Add records a value at a stamp in ns; it ignores values of zero and below.
func (p *Peaks) Add(at, value int64) {
	if value > 0 {
		b := (*Counts)(p).bucketBy(at, highest)
		*b = max(*b, value)
	}
}

// Merge adds the peaks of another series.
func (p *Peaks) Merge(o Peaks) { (*Counts)(p).merge(Counts(o), highest) }

// Widened is like Counts.Widened.
func (p Peaks) Widened(width int64) Peaks {
	p.N = slices.Clone(p.N)
	(*Counts)(&p).widen(width, highest)
	return p
}

func sum(a, b int64) int64     { return a + b }
func highest(a, b int64) int64 { return max(a, b) }

func (c *Counts) bucket(at int64) *int64 { return c.bucketBy(at, sum) }

// bucketBy is the bucket of a stamp; join joins two buckets.
func (c *Counts) bucketBy(at int64, join func(a, b int64) int64) *int64 {
	at = max(at, 0)
	c.Width = max(c.Width, Narrowest)
	for at/c.Width >= Buckets {
		c.widen(2*c.Width, join)
	}
	i := int(at / c.Width)
	for len(c.N) <= i {
		c.N = append(c.N, 0)
	}
	return &c.N[i]
}

func (c *Counts) widen(width int64, join func(a, b int64) int64) {
	for c.Width > 0 && c.Width < width {
		for i := range c.N {
			switch {
			case i == 0: // stays
			case i%2 == 0:
				c.N[i/2] = c.N[i]
			default:
				c.N[i/2] = join(c.N[i/2], c.N[i])
			}
		}
		c.N = c.N[:(len(c.N)+1)/2]
		c.Width *= 2
	}
}

func (c *Counts) merge(o Counts, join func(a, b int64) int64) {
	if o.Width == 0 {
		return
	}
	o.N = slices.Clone(o.N)
	c.Width = max(c.Width, Narrowest)
	c.widen(o.Width, join)
	o.widen(c.Width, join)
	for i, n := range o.N {
		for len(c.N) <= i {
			c.N = append(c.N, 0)
		}
		c.N[i] = join(c.N[i], n)
	}
}
