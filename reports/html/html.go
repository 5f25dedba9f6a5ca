package html

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lockbench/lockbench/reports"
)

//go:embed assets
var assets embed.FS

// A page is one kind of page: the layout that all share, with a body of its own. It is
// parsed once; what it escapes depends on where a value stands.
type page struct {
	*template.Template
}

// newPage reads the body of a page from files, which define the template "body".
func newPage(files ...string) page {
	t := template.New("layout.html").Funcs(reports.Funcs()).Funcs(template.FuncMap{
		"palette": palette,
		"style":   func(name string) template.CSS { return template.CSS(asset(name)) },
		"script":  func(name string) template.JS { return template.JS(asset(name)) },
		"policy":  policy,
		"pair":    func(a, b int64) [2]int64 { return [2]int64{a, b} },
		"inc":     func(i int) int { return i + 1 },
		"capital": capital,
		"second":  second,
		"chance":  chance,
		"arrow":   arrow,
	})
	paths := []string{"assets/layout.html", "assets/evidence.html"}
	for _, file := range files {
		paths = append(paths, "assets/"+file)
	}
	return page{template.Must(t.ParseFS(assets, paths...))}
}

// asset is an embedded file: ours, so that it is trusted as it is.
func asset(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // a name in our own template
	}
	return string(text)
}

// capital makes a sentence of words that begin with none of a result's names.
func capital(words string) string {
	r, size := utf8.DecodeRuneInString(words)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + words[size:]
}

// second is a stamp of RFC 3339 as people read it, or as it is where it is none.
func second(stamp string) string {
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return stamp
	}
	return at.UTC().Format("2006-01-02 15:04:05 UTC")
}

// arrow draws the arrows of text for terminals, which a line may not be broken in.
func arrow(text string) string { return strings.ReplaceAll(text, " -> ", " → ") }

// chance is how often something happens, as a share; a dash for always, which says nothing.
func chance(p float64) string {
	switch {
	case p >= 1:
		return "–"
	case p < 0.001:
		return "<0.1%"
	}
	return fmt.Sprintf("%.2g%%", 100*p)
}

// palette is the colours as custom properties: light, or dark where the reader prefers
// that or has chosen it.
func palette() template.CSS {
	light, dark := asset("light.css")+"color-scheme: light;", asset("dark.css")+"color-scheme: dark;"
	return template.CSS(":root {" + light + "}\n" +
		"@media (prefers-color-scheme: dark) { :root[data-theme=auto] {" + dark + "} }\n" +
		":root[data-theme=dark] {" + dark + "}")
}

// policy lets no script run but those named, whatever a result may have smuggled in.
func policy(scripts []string) string {
	var sources []string
	for _, name := range scripts {
		sum := sha256.Sum256([]byte(asset(name)))
		sources = append(sources, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	return strings.Join(sources, " ")
}

// write writes the document of a view.
func (p page) write(w io.Writer, view any) error {
	var buf bytes.Buffer
	if err := p.Execute(&buf, view); err != nil {
		return fmt.Errorf("write the HTML report: %w", err)
	}
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("write the HTML report: %w", err)
	}
	return nil
}

// A frame is what every page has around its body.
type frame struct {
	// Kind says what the page is, Title what it is about.
	Kind, Title string
	// Headline and Why say what came of it, as Exit does.
	Headline, Why string
	Exit          int
	Version       string // of lockbench, where it was made
	// Scripts are run at the end of the page, over Data.
	Scripts []string
	Data    data
}

// Charts reports whether the page draws charts, for which it needs a library.
func (f frame) Charts() bool { return slices.Contains(f.Scripts, chartLibrary) }

const chartLibrary = "uplot/uPlot.iife.min.js"

// theme is the script that runs before anything is shown.
const theme = "theme.js"

// Allowed are all scripts of the page.
func (f frame) Allowed() []string { return append([]string{theme}, f.Scripts...) }

// Tone and Sign are what the exit code amounts to at first sight. They say nothing of
// what was broken where nobody had claimed it: that has a line of its own.
func (f frame) Tone() string { return tone(f.Exit) }

// Sign shows the tone without colour.
func (f frame) Sign() string {
	return map[string]string{"good": "✓", "open": "?", "bad": "✗"}[f.Tone()]
}

func tone(exit int) string {
	switch exit {
	case reports.Passed:
		return "good"
	case reports.Inconclusive:
		return "open"
	}
	return "bad"
}
