package html

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/lockbench/lockbench/reports/internal/document"
)

//go:embed assets
var assets embed.FS

// asset returns an embedded file, which needs no escaping because it is part of lockbench.
func asset(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // a name in this package
	}
	return string(text)
}

// capital capitalizes words, unless they begin with a name from a result.
func capital(words string) string {
	r, size := utf8.DecodeRuneInString(words)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + words[size:]
}

// arrow replaces "->" by an arrow, and prevents line breaks at it.
func arrow(text string) string { return strings.ReplaceAll(text, " -> ", " → ") }

// name allows a line break after the slash of a design's name, for narrow columns.
func name(text string) g.Node {
	var parts g.Group
	for part := range strings.SplitAfterSeq(text, "/") {
		if len(parts) > 0 {
			parts = append(parts, h.Wbr())
		}
		parts = append(parts, g.Text(part))
	}
	return parts
}

// palette returns the colours as custom properties: light, or dark if the reader prefers or has
// chosen that.
func palette() string {
	light, dark := asset("light.css")+"color-scheme: light;", asset("dark.css")+"color-scheme: dark;"
	return ":root {" + light + "}\n" +
		"@media (prefers-color-scheme: dark) { :root[data-theme=auto] {" + dark + "} }\n" +
		":root[data-theme=dark] {" + dark + "}"
}

// policy allows only the named scripts to run, so that none from a result can.
func policy(scripts []string) string {
	var sources []string
	for _, name := range scripts {
		sum := sha256.Sum256([]byte(asset(name)))
		sources = append(sources, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	return strings.Join(sources, " ")
}

// Write writes d as one HTML document. All text from d is escaped. It returns the first error
// of w.
func Write(w io.Writer, d *document.Document) error {
	var buf bytes.Buffer
	page, err := newPage(d)
	if err == nil {
		err = page.node().Render(&buf)
	}
	if err == nil {
		_, err = w.Write(buf.Bytes())
	}
	if err != nil {
		return fmt.Errorf("write the HTML report: %w", err)
	}
	return nil
}

// A page is a document with its scripts.
type page struct {
	*document.Document
	// scripts are run at the end of the page, over data.
	scripts []string
	data    string // the drawings on the page, a JSON object that may stand in an element
	packed  bool   // whether the page has compressed cells
}

// theme is the script that runs before the page is shown, and chartLibrary the one that draws charts.
const (
	theme        = "theme.js"
	chartLibrary = "uplot/uPlot.iife.min.js"
)

func newPage(d *document.Document) (*page, error) {
	blocks, err := pack(d.Blocks)
	if err != nil {
		return nil, err
	}
	// Marshal escapes what would end an element.
	data, err := json.Marshal(struct {
		Runs     []document.Series             `json:"runs,omitempty"`
		Pictures map[string]*document.Timeline `json:"pictures,omitempty"` // by their ID
	}{d.Series, pictured(blocks)})
	if err != nil {
		return nil, err
	}
	with := *d
	with.Blocks = blocks
	p := &page{Document: &with, scripts: []string{"base.js", "lanes.js"}, data: string(data)}
	each(blocks, func(b document.Block) {
		switch b.(type) {
		case *document.Chart:
			p.scripts = []string{chartLibrary, "base.js", "charts.js", "lanes.js"}
		case *packed:
			p.packed = true
		}
	})
	return p, nil
}

// each calls do for every block that a page shows.
func each(blocks []document.Block, do func(document.Block)) {
	for _, b := range blocks {
		if !document.Visible(b, document.Page) {
			continue
		}
		do(b)
		if s, ok := b.(*document.Section); ok {
			each(s.Blocks, do)
		}
	}
}

// charts reports whether the page draws charts, which need a library.
func (p *page) charts() bool { return slices.Contains(p.scripts, chartLibrary) }

func (p *page) node() g.Node {
	return h.Doctype(g.Group{g.Text("\n"), h.HTML(h.Lang("en"), h.Data("theme", "auto"), p.head(), h.Body(
		h.A(h.Class("skip"), h.Href("#main"), g.Text("Skip to the results")),
		p.top(),
		h.Main(h.ID("main"), p.verdict(), nodesOf(p.Blocks)),
		p.end(),
	)), g.Text("\n")})
}

func (p *page) head() g.Node {
	title := p.Headline
	if p.Conclusion != nil {
		title = p.Conclusion.Word
	}
	meta := func(name, content string) g.Node { return h.Meta(h.Name(name), h.Content(content)) }
	style := func(text string) g.Node { return h.StyleEl(g.Raw(text)) }
	return h.Head(
		h.Meta(h.Charset("utf-8")),
		h.Meta(g.Attr("http-equiv", "Content-Security-Policy"), h.Content("default-src 'none'; style-src 'unsafe-inline'; script-src "+policy(append([]string{theme}, p.scripts...))+"; base-uri 'none'; form-action 'none'")),
		meta("viewport", "width=device-width, initial-scale=1"),
		meta("color-scheme", "light dark"),
		meta("generator", "lockbench"),
		h.TitleEl(g.Textf("lockbench: %s (%s)", title, arrow(p.Title))),
		style(palette()),
		g.Iff(p.charts(), func() g.Node { return style(asset("uplot/uPlot.min.css")) }),
		style(asset("style.css")+"\n"+asset("lanes.css")),
		script(theme),
	)
}

func script(name string) g.Node { return h.Script(g.Raw(asset(name))) }

func (p *page) top() g.Node {
	choice := func(name, title, pressed string) g.Node {
		return h.Button(h.Type("button"), h.Data("theme-choice", name), h.Aria("pressed", pressed), g.Text(title))
	}
	return h.Header(h.Class("top"),
		h.P(h.Class("brand"), h.Strong(g.Text("lockbench")), g.Text(" "+p.Kind)),
		h.Div(h.Class("theme"), h.Role("group"), h.Aria("label", "Colour theme"),
			choice("auto", "Auto", "true"), choice("light", "Light", "false"), choice("dark", "Dark", "false")))
}

// verdict returns the part that states the outcome: the conclusion, the headline and the exit code.
func (p *page) verdict() g.Node {
	exit := h.Span(h.Class("dim"), g.Textf("Exit code %d.", p.Exit))
	why := p.Why
	if why != "" {
		why = arrow(why) + ". "
	}
	var said g.Node
	if c := p.Conclusion; c != nil {
		said = g.Group{
			h.H1(h.ID("verdict"), g.Text(c.Word)),
			h.P(g.Text(capital(c.Text) + ".")),
			h.P(h.B(g.Text(p.Headline)), g.Text(": "+why), exit),
		}
	} else {
		if p.Exit == 0 {
			why = capital(why)
		}
		said = g.Group{h.H1(h.ID("verdict"), g.Text(p.Headline)), h.P(g.Text(why), exit)}
	}
	var beside g.Node
	if b := p.Beside; b != nil {
		var links g.Group
		for i, l := range b.Links {
			links = append(links, g.If(i > 0, g.Text(";")), g.Text(" "), link(l.ID, g.Text(l.Text)))
		}
		beside = h.P(h.Class("beside"), h.Span(h.Class("sign broken"), hidden(), g.Text("✗")), g.Text(" "), h.B(g.Text(b.Word)), links, g.Text(". "),
			h.Span(h.Class("dim"), g.Text("What is not claimed fails nothing.")))
	}
	return h.Section(h.Class("verdict "+marks[p.Tone]), h.Aria("labelledby", "verdict"),
		h.Span(h.Class("stamp"), hidden(), g.Text(signs[p.Tone])), h.Div(said, beside))
}

// end returns the footer, the data and the scripts.
func (p *page) end() g.Node {
	version, charts := p.Version, ""
	if version != "" {
		version = " " + version
	}
	if p.charts() {
		charts = " Charts: uPlot, MIT licence."
	}
	without := g.Text("Pictures need JavaScript; every verdict, figure and operation stands in the tables without it.")
	if p.packed {
		without = g.Group{g.Text("Pictures, and the cells of each design, need JavaScript; "), h.Code(g.Text("lockbench explain")), g.Text(" shows the cells without it.")}
	}
	return g.Group{
		h.Footer(h.P(g.Text("Written by lockbench" + version + ". This page is one file and asks no network for anything." + charts))),
		h.NoScript(h.P(h.Class("note"), without)),
		h.Script(h.Type("application/json"), h.ID("lockbench-data"), g.Raw(p.data)),
		g.Map(p.scripts, script),
	}
}
