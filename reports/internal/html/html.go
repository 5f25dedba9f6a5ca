package html

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
)

//go:embed assets
var assets embed.FS

// page is the template of all pages, parsed once. It escapes a value as the context of the
// value demands.
var page = template.Must(template.New("layout.html").Funcs(template.FuncMap{
	"palette": palette,
	"style":   func(name string) template.CSS { return template.CSS(asset(name)) },
	"script":  func(name string) template.JS { return template.JS(asset(name)) },
	"policy":  policy,
	"moment":  figures.Moment,
	"capital": capital,
	"arrow":   arrow,
	"name":    name,
	"kind":    func(b document.Block) string { return reflect.TypeOf(b).Elem().Name() },
	"visible": func(b document.Block) bool { return document.Visible(b, document.Page) },
	"title":   func(s *document.Section) string { return arrow(cmp.Or(s.PageTitle, s.Title)) },
	"says":    func(s *document.Section) string { return cmp.Or(s.PageSays, s.Says) },
	"lines":   func(text string) bool { return strings.Contains(text, "\n") },
	"mark":    func(t document.Tone) string { return marks[t] },
	"class":   func(t document.Tone) string { return classes[t] },
	"sign":    func(t document.Tone) string { return signs[t] },
	"toned":   toned,
	"look":    look,
	"grouped": grouped,
	"dotted":  dotted,
	"place":   func(v document.Value, c document.Column, blank string) []any { return []any{v, c, blank} },
	"stripX":  func(share float64) string { return fmt.Sprintf("%.1f", stripX(share)) },
	"stripY":  func(side int) int { return 10 + 16*side },
}).ParseFS(assets, "assets/layout.html", "assets/blocks.html"))

// The outcome, the CSS class and the sign of each tone. The sign has the meaning of the colour.
var (
	marks   = map[document.Tone]string{document.Good: "good", document.Weak: "open", document.Bad: "bad"}
	classes = map[document.Tone]string{document.Good: "held", document.Weak: "weak", document.Bad: "broken claimed", document.None: "none", document.Unclaimed: "broken"}
	signs   = map[document.Tone]string{document.Good: "✓", document.Weak: "?", document.Bad: "✗", document.None: "·", document.Unclaimed: "✗"}
)

// toned reports whether an item of the list is good or bad.
func toned(l *document.List) bool {
	return slices.ContainsFunc(l.Items, func(item document.Item) bool { return item.Tone != document.Plain })
}

// grouped reports whether columns of a table have a common heading.
func grouped(t *document.Table) bool {
	return slices.ContainsFunc(t.Columns, func(c document.Column) bool { return c.Above != "" })
}

// dotted reports whether a table shows the values behind its figures.
func dotted(t *document.Table) bool {
	return slices.ContainsFunc(t.Rows, func(r document.Row) bool {
		return slices.ContainsFunc(r.Cells, func(v document.Value) bool { return v.Dots != nil })
	})
}

// look returns the CSS classes of a table.
func look(t *document.Table) string {
	switch {
	case t.Wide:
		return "ops"
	case slices.ContainsFunc(t.Columns, func(c document.Column) bool { return c.Prose }):
		return "words"
	case dotted(t):
		return "figures compared"
	case slices.ContainsFunc(t.Columns, func(c document.Column) bool { return c.Number }):
		return "figures"
	case slices.ContainsFunc(t.Rows, func(r document.Row) bool {
		return slices.ContainsFunc(r.Cells, func(v document.Value) bool { return v.Tone != document.Plain })
	}):
		return "matrix"
	}
	return "changes"
}

// The strip of values behind a figure is drawn in units that are pixels if there is room.
const (
	stripFrom, stripTo = 32.0, 212.0
	stripMargin        = 6.0
)

func stripX(share float64) float64 {
	return stripFrom + stripMargin + (stripTo-stripFrom-2*stripMargin)*share
}

// asset returns an embedded file, which needs no escaping because it is part of lockbench.
func asset(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // a name in lockbench's own template
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
func name(text string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(text), "/", "/<wbr>"))
}

// palette returns the colours as custom properties: light, or dark if the reader prefers or has
// chosen that.
func palette() template.CSS {
	light, dark := asset("light.css")+"color-scheme: light;", asset("dark.css")+"color-scheme: dark;"
	return template.CSS(":root {" + light + "}\n" +
		"@media (prefers-color-scheme: dark) { :root[data-theme=auto] {" + dark + "} }\n" +
		":root[data-theme=dark] {" + dark + "}")
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
	v, err := newView(d)
	if err == nil {
		err = page.Execute(&buf, v)
	}
	if err == nil {
		_, err = w.Write(buf.Bytes())
	}
	if err != nil {
		return fmt.Errorf("write the HTML report: %w", err)
	}
	return nil
}

// A view is a document with the additional data of the template.
type view struct {
	*document.Document
	// Scripts are run at the end of the page, over Data.
	Scripts []string
	Data    data
	// Packed is whether the page has compressed cells.
	Packed bool
}

// A data is the data of the drawings on a page, for its scripts.
type data struct {
	Runs     []document.Series             `json:"runs,omitempty"`
	Pictures map[string]*document.Timeline `json:"pictures,omitempty"` // by their ID
}

func newView(d *document.Document) (*view, error) {
	blocks, err := pack(d.Blocks)
	if err != nil {
		return nil, err
	}
	with := *d
	with.Blocks = blocks
	v := &view{Document: &with, Scripts: []string{"base.js", "lanes.js"}, Data: data{Runs: d.Series, Pictures: pictured(blocks)}}
	charts := false
	each(blocks, func(b document.Block) {
		switch b.(type) {
		case *document.Chart:
			charts = true
		case *packed:
			v.Packed = true
		}
	})
	if charts {
		v.Scripts = []string{chartLibrary, "base.js", "charts.js", "lanes.js"}
	}
	return v, nil
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

// Charts reports whether the page draws charts, which need a library.
func (v *view) Charts() bool { return slices.Contains(v.Scripts, chartLibrary) }

const chartLibrary = "uplot/uPlot.iife.min.js"

// theme is the script that runs before the page is shown.
const theme = "theme.js"

// Allowed returns all scripts of the page.
func (v *view) Allowed() []string { return append([]string{theme}, v.Scripts...) }
