package html

import (
	"math"
	"slices"
	"sort"

	"github.com/lockbench/lockbench/reports/internal/document"
)

// A scale maps the stamps of a picture to positions from 0 on. The mapping is not linear:
// every stretch between two events gets the logarithm of its length, since a race of
// microseconds may follow a lease of seconds. Steps are evenly spaced.
type scale struct {
	stamps []int64 // rising
	places []float64
}

func newScale(p *document.Timeline) scale {
	var s scale
	for _, l := range p.Lanes {
		for _, b := range l.Bars {
			s.stamps = append(s.stamps, b.From, b.To)
		}
		for _, m := range l.Marks {
			s.stamps = append(s.stamps, m.At, m.To)
		}
	}
	for _, o := range p.Overlaps {
		s.stamps = append(s.stamps, o.From, o.To)
	}
	if p.Steps && len(s.stamps) > 0 {
		s.stamps = append(s.stamps, slices.Max(s.stamps)+1)
	}
	slices.Sort(s.stamps)
	s.stamps = slices.Compact(s.stamps)
	place := 0.0
	for i, at := range s.stamps {
		switch {
		case i > 0 && p.Steps:
			place += float64(at) - float64(s.stamps[i-1])
		case i > 0:
			place += 1 + math.Log10(1+(float64(at)-float64(s.stamps[i-1]))/1e3)
		}
		s.places = append(s.places, place)
	}
	return s
}

// start is the first stamp of the picture, and width its last position.
func (s scale) start() int64   { return s.stamps[0] }
func (s scale) width() float64 { return s.places[len(s.places)-1] }

// place returns the position of a stamp. A stamp that the picture does not have lies
// between its neighbours.
func (s scale) place(at int64) float64 {
	i := sort.Search(len(s.stamps), func(i int) bool { return s.stamps[i] >= at })
	switch {
	case i == len(s.stamps):
		return s.width()
	case i == 0 || s.stamps[i] == at:
		return s.places[i]
	}
	before := float64(s.stamps[i-1])
	share := (float64(at) - before) / (float64(s.stamps[i]) - before)
	return s.places[i-1] + share*(s.places[i]-s.places[i-1])
}
