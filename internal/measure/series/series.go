package series

import "slices"

const (
	// Buckets is how many buckets a series has at most.
	Buckets = 256
	// Narrowest is the width in ns that buckets have at first. Widths are this,
	// doubled some times.
	Narrowest = int64(10_000_000)
)

// Counts counts events by time. The zero value is ready to use; it is not safe for
// concurrent use. Two that were told the same are equal, in whatever order and
// through whatever merges they were told it.
type Counts struct {
	// Width is that of each bucket in ns, zero while there is none. The first begins
	// at stamp zero.
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

// Merge adds what another series counted.
func (c *Counts) Merge(o Counts) { c.merge(o, sum) }

// Widened returns the series with buckets of the given width, which is a width that
// another one has. Narrower ones than the series' own are not to be had: then, and
// when it is empty, it is returned as it is.
func (c Counts) Widened(width int64) Counts {
	c.N = slices.Clone(c.N)
	c.widen(width, sum)
	return c
}

// Peaks keeps the highest value by time. It is like Counts but for that.
type Peaks Counts

// Add takes note of a value at a stamp in ns; values of zero and below are none.
func (p *Peaks) Add(at, value int64) {
	if value > 0 {
		b := (*Counts)(p).bucketBy(at, highest)
		*b = max(*b, value)
	}
}

// Merge takes note of what another series did.
func (p *Peaks) Merge(o Peaks) { (*Counts)(p).merge(Counts(o), highest) }

// Widened is that of Counts.
func (p Peaks) Widened(width int64) Peaks {
	p.N = slices.Clone(p.N)
	(*Counts)(&p).widen(width, highest)
	return p
}

func sum(a, b int64) int64     { return a + b }
func highest(a, b int64) int64 { return max(a, b) }

func (c *Counts) bucket(at int64) *int64 { return c.bucketBy(at, sum) }

// bucketBy is the bucket of a stamp; join puts two buckets together.
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
