package html

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"strings"
	"unicode/utf8"

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

// InnerWidth and InnerHeight leave room for the border.
func (d *drawnPicture) InnerWidth() float64  { return d.Width - 1 }
func (d *drawnPicture) InnerHeight() float64 { return d.Height - 1 }

// Style returns the palette and the drawing styles, the same as a page's.
func (d *drawnPicture) Style() template.CSS {
	return template.CSS(":root {" + asset("light.css") + "}\n@media (prefers-color-scheme: dark) { :root {" + asset("dark.css") + "} }\n" +
		asset("lanes.css") + asset("picture.css"))
}

var pictureTemplate = template.Must(template.New("picture.svg").Funcs(template.FuncMap{"px": px}).ParseFS(assets, "assets/picture.svg"))

// px formats a length to a tenth of a pixel.
func px(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }

func (d *drawnPicture) svg() ([]byte, error) {
	var buf bytes.Buffer
	if err := pictureTemplate.Execute(&buf, d); err != nil {
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
