package html

import (
	"fmt"
	"math"
	"slices"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/lockbench/lockbench/reports/internal/document"
)

// The area of a spectrum in its document, in px.
const (
	fieldLeft, fieldRight = 66.0, 808.0
	fieldHeight           = 280.0
)

// A drawnSpectrum draws quantiles of the latencies of acquires. Both axes are
// logarithmic: the lower one in 1/(1-share), so that every nine takes the same width.
type drawnSpectrum struct {
	Right, Top    float64
	Rows, Columns []drawnText // with a line from each
	Lines         []drawnCurve
}

// node returns the elements of the drawing.
func (s *drawnSpectrum) node() g.Node {
	return g.Group{
		g.Map(s.Rows, func(t drawnText) g.Node {
			return g.Group{g.Text("\n"), path("grid", "M"+px(t.X)+" "+px(t.Y)+"H"+px(s.Right)), label("tick", t.X, t.Y, t.Text, g.Attr("dx", "-6"), g.Attr("dy", "4"), g.Attr("text-anchor", "end"))}
		}),
		g.Map(s.Columns, func(t drawnText) g.Node {
			return g.Group{g.Text("\n"), path("grid", "M"+px(t.X)+" "+px(t.Y)+"V"+px(s.Top)), label("tick", t.X, t.Y, t.Text, g.Attr("dy", "16"), middle())}
		}),
		g.Map(s.Lines, func(c drawnCurve) g.Node {
			class := "line " + c.Class
			return g.Group{g.Text("\n"), path(class, c.Path), path(class, "M"+px(c.KeyX)+" "+px(c.KeyY)+"h26"),
				svgText(at("x", c.KeyX), at("y", c.KeyY), g.Attr("dx", "32"), g.Attr("dy", "4"), g.Text(c.Label))}
		}),
	}
}

type drawnCurve struct {
	Class, Label, Path string
	KeyX, KeyY         float64
}

// A curve is a spectrum over 1/(1-share). The longest of n durations has the position n.
type curve struct {
	label string
	x     []float64
	ns    []int64
}

func newCurve(label string, s document.Distribution) curve {
	c := curve{label: label, ns: s.NS}
	x := 1.0
	for _, share := range s.Shares[:len(s.Shares)-1] {
		if share < 1 {
			x = max(x, 1/(1-share))
		}
		c.x = append(c.x, x)
	}
	c.x = append(c.x, max(x, float64(s.Count)))
	return c
}

// latencyPicture draws the acquires of all runs; nil if there were none.
func latencyPicture(all []document.Series) *drawnPicture {
	var curves []curve
	slow, response := false, false
	for _, run := range all {
		response = response || run.Response
		if s, ok := run.Spectra["acquire"]; ok {
			curves, slow = append(curves, newCurve(run.Label, s)), slow || run.Slow
		}
	}
	if len(curves) == 0 {
		return nil
	}
	d := &drawnPicture{Width: drawnWidth, Title: "Latency of acquire by percentile", About: "How long the given share of acquires took at most, for each lock."}
	if response {
		d.Title += ", from the intended start"
	}
	notes := all[0].Settings
	if slow {
		notes = append(slices.Clone(notes), "on the embedded server: not the designs' own speeds")
	}
	y := d.list("note", notes, ", ", 28)
	d.Spectrum, d.Height = drawSpectrum(curves, y+14)
	return d
}

// drawSpectrum draws curves below a heading of height top, and returns the total height.
func drawSpectrum(curves []curve, top float64) (*drawnSpectrum, float64) {
	least, most, last := int64(math.MaxInt64), int64(1), 10.0
	for _, c := range curves {
		least, most, last = min(least, slices.Min(c.ns)), max(most, slices.Max(c.ns)), max(last, slices.Max(c.x))
	}
	low := math.Floor(math.Log10(float64(max(1, least))))
	high := max(low+1, math.Ceil(math.Log10(float64(most))))
	right := math.Log10(last)
	bottom := top + fieldHeight
	x := func(v float64) float64 { return fieldLeft + (fieldRight-fieldLeft)*math.Log10(v)/right }
	y := func(ns int64) float64 {
		return bottom - fieldHeight*(math.Log10(float64(max(1, ns)))-low)/(high-low)
	}
	s := &drawnSpectrum{Right: fieldRight, Top: top}
	for p := low; p <= high; p++ {
		ns := int64(math.Pow(10, p))
		s.Rows = append(s.Rows, drawnText{fieldLeft, y(ns), short(ns, 4)})
	}
	for p := 0.0; p <= right; p++ {
		s.Columns = append(s.Columns, drawnText{x(math.Pow(10, p)), bottom, nines(int(p))})
	}
	for i, c := range curves {
		s.Lines = append(s.Lines, drawnCurve{
			Class: fmt.Sprintf("s%d d%d", i%6+1, (i+i/6)%4+1), Label: c.label, Path: c.path(x, y),
			KeyX: fieldLeft + float64(i%3)*255, KeyY: bottom + 42 + 20*float64(i/3),
		})
	}
	return s, bottom + 42 + 20*float64((len(curves)-1)/3) + 18
}

// path returns the curve as an SVG path, with each pixel position drawn once.
func (c curve) path(x func(float64) float64, y func(int64) float64) string {
	var b strings.Builder
	last := ""
	for i := range c.x {
		if at := px(x(c.x[i])) + " " + px(y(max(1, c.ns[i]))); at != last {
			b.WriteString(map[bool]string{true: "M", false: "L"}[last == ""] + at)
			last = at
		}
	}
	return b.String()
}

// nines formats the share at position 10^n: 0%, 90%, 99%, 99.9%.
func nines(n int) string {
	switch n {
	case 0:
		return "0%"
	case 1:
		return "90%"
	case 2:
		return "99%"
	}
	return "99." + strings.Repeat("9", n-2) + "%"
}
