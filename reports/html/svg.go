package html

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
	"unicode/utf8"

	"github.com/lockbench/lockbench/reports"
)

// A Picture is one SVG document, light or dark as its reader prefers, which needs nothing
// else to be shown.
type Picture struct {
	// Name is that of its file.
	Name string
	SVG  []byte
}

// Pictures draws what a page of r draws that can be shown elsewhere, in a README or an
// issue: how long acquires took, and every counterexample. They
// are the same for the same result. All that comes from r is escaped.
func Pictures(r reports.Result) ([]Picture, error) {
	v := newResultView(r)
	var all []Picture
	given := make(map[string]int)
	add := func(name string, d *drawnPicture) error {
		text, err := d.svg()
		name = reports.FileName(name)
		if given[name]++; given[name] > 1 {
			name = fmt.Sprintf("%s-%d", name, given[name])
		}
		all = append(all, Picture{Name: name + ".svg", SVG: text})
		return err
	}
	if d := latencyPicture(v); d != nil {
		if err := add("latency", d); err != nil {
			return nil, err
		}
	}
	for i := range v.Runs {
		run := &v.Runs[i]
		for j := range run.Evidence {
			e := &run.Evidence[j]
			if e.Picture == nil {
				continue
			}
			if err := add(run.Design+"."+e.Name(), evidencePicture(run.Label, e)); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// A drawnPicture is a document: a heading, a drawing, and what its signs mean.
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

// Style is the palette and how things are drawn, in the page and here.
func (d *drawnPicture) Style() template.CSS {
	return template.CSS(":root {" + asset("light.css") + "}\n@media (prefers-color-scheme: dark) { :root {" + asset("dark.css") + "} }\n" +
		asset("lanes.css") + asset("picture.css"))
}

var pictureTemplate = template.Must(template.New("picture.svg").Funcs(template.FuncMap{"px": px}).ParseFS(assets, "assets/picture.svg"))

// px writes a length as briefly as it can be seen.
func px(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }

func (d *drawnPicture) svg() ([]byte, error) {
	var buf bytes.Buffer
	if err := pictureTemplate.Execute(&buf, d); err != nil {
		return nil, fmt.Errorf("draw %s: %w", d.Title, err)
	}
	return bytes.Map(inXML, buf.Bytes()), nil
}

// inXML replaces the characters that XML 1.0 (2.2) has no place for.
func inXML(r rune) rune {
	switch {
	case r == '\t', r == '\n', r == '\r', r >= 0x20 && r <= 0xD7FF, r >= 0xE000 && r <= 0xFFFD, r >= 0x10000:
		return r
	}
	return utf8.RuneError
}

// say adds lines of words below y, and returns where the last one stands.
func (d *drawnPicture) say(class, text string, y float64) float64 {
	return d.list(class, strings.Fields(text), " ", y)
}

// list is say for parts that a line is not broken in.
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

// evidencePicture shows a counterexample with what it is of.
func evidencePicture(label string, e *evidence) *drawnPicture {
	claim := "not claimed"
	if e.Claimed {
		claim = "claimed"
	}
	d := &drawnPicture{Width: drawnWidth, Title: fmt.Sprintf("%s: %s, %s, %s", label, e.Name(), e.Word(), claim), About: e.Sentence}
	sentence := e.Sentence
	if e.Margin != "" {
		sentence += ", by " + e.Margin
	}
	y := d.say("said", sentence, 28)
	d.Drawing = e.Picture.draw(y + 8)
	y = d.say("note", d.Drawing.Note, d.Drawing.Height+2)
	y = d.list("note", d.Drawing.signs(), " · ", y)
	d.Height = y + 14
	return d
}
