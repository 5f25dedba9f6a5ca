package html

import (
	"fmt"
	"slices"
	"unicode/utf8"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/lockbench/lockbench/reports/internal/document"
)

// The dimensions of a drawing, in px. lanes.js, which draws the interactive version, has the
// same.
const (
	drawnWidth  = 840.0
	drawnSide   = 14.0
	axisHeight  = 26.0
	laneHeight  = 62.0
	barTop      = 20.0 // below the top of its lane, as are the next ones
	barHeight   = 18.0
	thinHeight  = 6.0
	signBase    = 53.0
	nameBase    = 13.0
	overlapRow  = 18.0
	overlapSize = 40.0
	letter      = 7.4 // width of a letter in the broadest of the usual fonts
)

// The kinds of overlaps: one owner holds the lock past its lease, or both hold it within theirs.
const (
	lateHold = "late"
	bothHold = "both"
)

// A drawing is a picture with everything in its place.
type drawing struct {
	Width, Height float64
	Steps         bool
	Ticks         []drawnText // with a line down from each
	Lanes         []drawnLane
	Bars          []drawnBar
	Marks         []drawnMark
	Overlaps      []drawnOverlap
	Note          string

	scale scale
}

type drawnText struct {
	X, Y float64
	Text string
}

type drawnLane struct {
	Name       string
	Y, NameY   float64
	RailY, End float64
}

type drawnBar struct {
	Kind, Says          string
	X, Y, Width, Height float64
}

type drawnMark struct {
	Bad                    bool
	Says, Sign             string
	X, Top, Low, To, SignY float64
	Answered               bool // the answer is visibly later than the call
}

type drawnOverlap struct {
	Kind, Says  string // the kind is lateHold or bothHold
	X, Y, Width float64
	Top, Height float64 // of the band over the lanes
	// Length is the duration of the overlap as text, above the band; it is empty if the text does not
	// fit. LabelX, LabelY and LabelWidth place the rectangle beneath that text.
	Length                     string
	LengthX                    float64
	LabelX, LabelY, LabelWidth float64
}

// node returns the elements of the drawing.
func (d *drawing) node() g.Node {
	return g.Group{
		g.El("defs", pattern(lateHold, "M0 7L7 0"), pattern(bothHold, "M0 7L7 0M0 0L7 7")),
		g.Map(d.Ticks, func(t drawnText) g.Node {
			return g.Group{g.Text("\n"), path("grid", "M"+px(t.X)+" "+px(t.Y)+"m0 5V"+px(d.Height)), g.If(t.Text != "", label("tick", t.X, t.Y, t.Text, middle()))}
		}),
		g.Map(d.Lanes, func(l drawnLane) g.Node {
			return g.Group{g.Text("\n"), path("grid", "M.5 "+px(l.Y)+"H839.5"), g.If(l.RailY != 0, path("rail", "M14 "+px(l.RailY)+"H"+px(l.End))), label("name", 14, l.NameY, l.Name)}
		}),
		g.Map(d.Overlaps, drawnOverlap.node),
		g.Map(d.Bars, drawnBar.node),
		g.Map(d.Marks, drawnMark.node),
	}
}

// pattern returns the hatching of a kind of hold.
func pattern(kind, lines string) g.Node {
	return g.El("pattern", h.ID(kind), h.Class(kind), h.Width("7"), h.Height("7"), g.Attr("patternUnits", "userSpaceOnUse"),
		g.El("rect", h.Width("7"), h.Height("7")), g.El("path", g.Attr("d", lines)))
}

// said returns the words that a browser shows beside the pointer.
func said(text string) g.Node { return h.TitleEl(g.Text(text)) }

func (o drawnOverlap) node() g.Node {
	x, width := at("x", o.X), at("width", o.Width)
	all := g.Group{g.Text("\n"), g.El("g", h.Class("overlap "+o.Kind), said(o.Says),
		g.El("rect", h.Class("band"), x, at("y", o.Top), width, at("height", o.Height)),
		g.El("rect", h.Class("row"), x, at("y", o.Y), width, h.Height("16"), g.Attr("rx", "2"), g.Attr("fill", "url(#"+o.Kind+")")))}
	if o.Length != "" {
		all = append(all, g.El("g", h.Class("length"),
			g.El("rect", at("x", o.LabelX), at("y", o.LabelY), at("width", o.LabelWidth), h.Height("13"), g.Attr("rx", "2")),
			svgText(at("x", o.LengthX), at("y", o.LabelY), g.Attr("dy", "10.5"), middle(), g.Text(o.Length))))
	}
	return all
}

func (b drawnBar) node() g.Node {
	return g.Group{g.Text("\n"), g.El("g", h.Class("bar "+b.Kind), said(b.Says),
		g.El("rect", at("x", b.X), at("y", b.Y), at("width", b.Width), at("height", b.Height), g.Attr("rx", "2"), g.If(b.Kind == document.Past, h.Style("fill:url(#"+lateHold+")"))))}
}

func (m drawnMark) node() g.Node {
	class := "mark"
	if m.Bad {
		class += " bad"
	}
	return g.Group{g.Text("\n"), g.El("g", h.Class(class), said(m.Says), path("at", "M"+px(m.X)+" "+px(m.Top)+"V"+px(m.Low)),
		g.If(m.Answered, path("answer", "M"+px(m.X)+" "+px(m.Low)+"H"+px(m.To)+"v-4")),
		g.If(m.Sign != "", svgText(at("x", m.X), at("y", m.SignY), middle(), g.Text(m.Sign))))}
}

// draw lays out a timeline, below a heading of the given height.
func draw(p *document.Timeline, heading float64) *drawing {
	d := &drawing{Width: drawnWidth, Steps: p.Steps, scale: newScale(p)}
	top := heading + axisHeight
	for i := range p.Lanes {
		d.lane(&p.Lanes[i], top+float64(i)*laneHeight)
	}
	d.Height = top + float64(len(p.Lanes))*laneHeight + 4
	if len(p.Overlaps) > 0 {
		d.Lanes = append(d.Lanes, drawnLane{Name: "overlap", Y: d.Height - 4, NameY: d.Height - 4 + nameBase})
		for _, o := range p.Overlaps {
			d.overlap(o, top, d.Height-4)
		}
		d.Height += overlapSize
	}
	d.ticks(heading)
	d.Note = "one column per server command"
	if !p.Steps {
		d.Note = fmt.Sprintf("times from %.6f s of the run on; not to scale: quiet stretches are shortened", float64(d.scale.start())/1e9)
	}
	return d
}

func (d *drawing) x(at int64) float64 {
	width := d.scale.width()
	if width == 0 {
		return drawnWidth / 2
	}
	const margin = 0.04 // of the width, on either side
	share := (d.scale.place(at)/width + margin) / (1 + 2*margin)
	return drawnSide + share*(drawnWidth-2*drawnSide)
}

func (d *drawing) lane(l *document.Lane, y float64) {
	d.Lanes = append(d.Lanes, drawnLane{Name: l.Name, Y: y, NameY: y + nameBase, RailY: y + barTop + barHeight/2, End: drawnWidth - drawnSide})
	for _, b := range l.Bars {
		bar := drawnBar{Kind: b.Kind, Says: b.Says, X: d.x(b.From), Y: y + barTop, Height: barHeight}
		bar.Width = max(d.x(b.To)-bar.X, 3)
		if b.Kind == document.Waiting {
			bar.Y, bar.Height = y+barTop+(barHeight-thinHeight)/2, thinHeight
		}
		d.Bars = append(d.Bars, bar)
	}
	free := 0.0
	for _, m := range l.Marks {
		free = d.mark(m, y, free)
	}
}

// mark draws a command in a lane. It puts the sign at free or to the right of it, and returns
// the first position that is free for the next sign.
func (d *drawing) mark(m document.Mark, y, free float64) float64 {
	out := drawnMark{Bad: m.Bad, Says: m.Says, X: d.x(m.At), To: d.x(m.To), Top: y + barTop - 4, Low: y + barTop + barHeight + 3, SignY: y + signBase}
	out.Answered = out.To > out.X+1
	sign := m.Sign
	if d.Steps {
		sign = clipped(sign, int((d.x(m.At+1)-out.X)/letter))
	}
	half := float64(utf8.RuneCountInString(sign)) * letter / 2
	if out.X-half >= free {
		out.Sign, free = sign, out.X+half+1
	}
	d.Marks = append(d.Marks, out)
	return free
}

// clipped returns the part of a sign that fits into room, at least one letter.
func clipped(sign string, room int) string {
	letters := []rune(sign)
	return string(letters[:min(len(letters), max(1, room))])
}

func (d *drawing) overlap(o document.Overlap, top, y float64) {
	out := drawnOverlap{Kind: lateHold, Says: o.Says, X: d.x(o.From), Y: y + overlapRow, Top: top + float64(min(o.Lanes[0], o.Lanes[1]))*laneHeight}
	if o.Within {
		out.Kind = bothHold
	}
	out.Width, out.Height = max(d.x(o.To)-out.X, 3), out.Y-out.Top
	length := "both believe"
	if !d.Steps {
		length = short(o.To-o.From, 4)
	}
	if wide := float64(utf8.RuneCountInString(length))*letter + 6; wide < out.Width {
		out.Length, out.LengthX = length, out.X+out.Width/2
		out.LabelX, out.LabelY, out.LabelWidth = out.LengthX-wide/2, out.Y+1.5, wide
	}
	d.Overlaps = append(d.Overlaps, out)
}

// ticks writes the times of events, or the numbers of steps, and skips those that there is no
// room for.
func (d *drawing) ticks(heading float64) {
	free, before := 0.0, ""
	for i, at := range d.scale.stamps {
		if d.Steps && i == len(d.scale.stamps)-1 {
			break // the end of the last step
		}
		words := d.when(at, 4)
		if words == before {
			words = d.when(at, 7)
		}
		x, half := d.x(at), float64(len(words))*letter/2
		tick := drawnText{X: x, Y: heading + axisHeight - 11}
		if x-half >= free && x+half < drawnWidth {
			tick.Text, free, before = words, x+half+8, words
		}
		d.Ticks = append(d.Ticks, tick)
	}
}

// when returns the text of a stamp: its step, or the time since the first stamp with this number of
// digits.
func (d *drawing) when(at int64, digits int) string {
	if d.Steps {
		return fmt.Sprint(at + 1)
	}
	return "+" + short(at-d.scale.start(), digits)
}

// short formats a duration with this number of digits.
func short(ns int64, digits int) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= unit.size {
			return fmt.Sprintf("%.*g", digits, float64(ns)/float64(unit.size)) + unit.name
		}
	}
	if ns == 0 {
		return "0"
	}
	return fmt.Sprintf("%dns", ns)
}

// signs returns the legend of a drawing: the signs that occur in it.
func (d *drawing) signs() (all []string) {
	bars := func(kind string) bool {
		return slices.ContainsFunc(d.Bars, func(b drawnBar) bool { return b.Kind == kind })
	}
	mark := func(sign string) bool {
		return slices.ContainsFunc(d.Marks, func(m drawnMark) bool { return m.Sign == sign })
	}
	over := func(kind string) bool {
		return slices.ContainsFunc(d.Overlaps, func(o drawnOverlap) bool { return o.Kind == kind })
	}
	for _, s := range []struct {
		there bool
		says  string
	}{
		{bars(document.Believes), "bar: believes that it holds the lock"}, {d.Steps && over(bothHold), "red: two believe so"},
		{bars(document.Within), "solid bar: within the lease"}, {bars(document.Past), "striped: past it"}, {bars(document.Waiting), "dotted: waiting"},
		{!d.Steps && over(bothHold), "red, crossed: two hold it at once"}, {mark("G"), "G granted"}, {mark("|"), "| lease over"},
		{mark("R"), "R release"}, {mark("E"), "E extend or renewal"}, {mark("r"), "r read"}, {mark("w"), "w write"},
		{mark("A"), "A acquire, not granted"}, {mark("L"), "L told of the loss"}, {mark("†"), "† died"},
		{slices.ContainsFunc(d.Marks, func(m drawnMark) bool { return m.Answered }), "bracket: until the answer"},
		{slices.ContainsFunc(d.Marks, func(m drawnMark) bool { return d.Steps && m.Bad }), "! a fault"},
	} {
		if s.there {
			all = append(all, s.says)
		}
	}
	return all
}
