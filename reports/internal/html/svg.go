package html

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/lockbench/lockbench/reports/internal/document"
)

// A Picture is one SVG document, light or dark as its reader prefers, which needs no
// other file. Names may occur more than once.
type Picture struct {
	Name string
	SVG  []byte
}

// Pictures draws the drawings of d's page that work outside of it: the latencies of
// acquires, and every timeline. All text from d is escaped.
func Pictures(d *document.Document) (all []Picture, err error) {
	add := func(name string, drawn *drawnPicture) {
		text, failed := drawn.svg()
		all, err = append(all, Picture{name, text}), errors.Join(err, failed)
	}
	if drawn := latencyPicture(d.Series); drawn != nil {
		add("latency", drawn)
	}
	each(d.Blocks, func(b document.Block) {
		if t, ok := b.(*document.Timeline); ok && t.Drawable() {
			add(t.Name, timelinePicture(t))
		}
	})
	return all, err
}

// A drawnPicture is a document: a heading, a drawing, and its legend.
type drawnPicture struct {
	Width, Height float64
	Title, About  string
	Lines         []drawnLine
	Drawing       *drawing
	Spectrum      *drawnSpectrum
}

// A drawnLine is a line of text.
type drawnLine struct {
	Class, Text string
	Y           float64
}

// node returns the document, with the palette and the drawing styles of a page.
func (d *drawnPicture) node() g.Node {
	style := ":root {" + asset("light.css") + "}\n@media (prefers-color-scheme: dark) { :root {" + asset("dark.css") + "} }\n" +
		asset("lanes.css") + asset("picture.css")
	const border = 1
	return h.SVG(g.Attr("xmlns", "http://www.w3.org/2000/svg"), h.Class("stage"), g.Attr("viewBox", "0 0 "+px(d.Width)+" "+px(d.Height)), at("width", d.Width), at("height", d.Height), h.Role("img"), h.Aria("labelledby", "title about"),
		h.TitleEl(h.ID("title"), g.Text(d.Title)),
		g.El("desc", h.ID("about"), g.Text(d.About)),
		h.StyleEl(g.Raw(style)),
		g.El("rect", h.Class("ground"), g.Attr("x", ".5"), g.Attr("y", ".5"), at("width", d.Width-border), at("height", d.Height-border), g.Attr("rx", "8")),
		label("title", 14, 26, d.Title),
		g.Map(d.Lines, func(l drawnLine) g.Node { return g.Group{g.Text("\n"), label(l.Class, 14, l.Y, l.Text)} }),
		g.Iff(d.Drawing != nil, func() g.Node { return d.Drawing.node() }),
		g.Iff(d.Spectrum != nil, func() g.Node { return d.Spectrum.node() }),
		g.Text("\n"))
}

// at returns an attribute that is a length or a position.
func at(name string, v float64) g.Node { return g.Attr(name, px(v)) }

// label returns text at a position; attributes move it from there.
func label(class string, x, y float64, text string, attributes ...g.Node) g.Node {
	return svgText(h.Class(class), at("x", x), at("y", y), g.Group(attributes), g.Text(text))
}

// middle centres a label at its position.
func middle() g.Node { return g.Attr("text-anchor", "middle") }

// px formats a length to a tenth of a pixel.
func px(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }

func (d *drawnPicture) svg() ([]byte, error) {
	var buf bytes.Buffer
	if err := d.node().Render(&buf); err != nil {
		return nil, fmt.Errorf("draw %s: %w", d.Title, err)
	}
	return bytes.Map(inXML, buf.Bytes()), nil
}

// inXML replaces the characters that XML 1.0 (2.2) does not allow.
func inXML(r rune) rune {
	switch {
	case r == '\t', r == '\n', r == '\r', r >= 0x20 && r <= 0xD7FF, r >= 0xE000 && r <= 0xFFFD, r >= 0x10000:
		return r
	}
	return utf8.RuneError
}

// say adds lines of words below y, and returns the position of the last one.
func (d *drawnPicture) say(class, text string, y float64) float64 {
	return d.list(class, strings.Fields(text), " ", y)
}

// list adds parts like say, and breaks no line within a part.
func (d *drawnPicture) list(class string, parts []string, between string, y float64) float64 {
	const line = 18
	for _, text := range wrapped(parts, between) {
		y += line
		d.Lines = append(d.Lines, drawnLine{Class: class, Text: text, Y: y})
	}
	return y
}

// wrapped puts parts on lines that fit into a drawing.
func wrapped(parts []string, between string) (lines []string) {
	const fits = int(drawnWidth-2*drawnSide) / 7
	at := 0
	for _, part := range parts {
		n := utf8.RuneCountInString(part)
		if at == 0 || at+len(between)+n > fits {
			lines, at = append(lines, part), n
			continue
		}
		lines[len(lines)-1] += between + part
		at += len(between) + n
	}
	return lines
}

// timelinePicture shows a counterexample below its description.
func timelinePicture(t *document.Timeline) *drawnPicture {
	d := &drawnPicture{Width: drawnWidth, Title: t.Title, About: t.About}
	sentence := t.About
	if t.Margin != "" {
		sentence += ", by " + t.Margin
	}
	y := d.say("said", sentence, 28)
	d.Drawing = draw(t, y+8)
	y = d.say("note", d.Drawing.Note, d.Drawing.Height+2)
	y = d.list("note", d.Drawing.signs(), " · ", y)
	d.Height = y + 14
	return d
}
