package html

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/lockbench/lockbench/reports"
)

//go:embed assets
var assets embed.FS

// page is the template, parsed once; what it escapes depends on where a value stands.
var page = template.Must(template.New("page.html").Funcs(reports.Funcs()).Funcs(template.FuncMap{
	"style":  func(name string) template.CSS { return template.CSS(asset(name)) },
	"script": func(name string) template.JS { return template.JS(asset(name)) },
	"policy": policy,
	"pair":   func(a, b int64) [2]int64 { return [2]int64{a, b} },
	"inc":    func(i int) int { return i + 1 },
}).ParseFS(assets, "assets/*.html"))

// asset is an embedded file: ours, so that it is trusted as it is.
func asset(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // a name in our own template
	}
	return string(text)
}

// policy lets no script run but ours, whatever a result may have smuggled in.
func policy() string {
	var sources []string
	for _, name := range []string{"theme.js", "uplot/uPlot.iife.min.js", "base.js", "charts.js", "lanes.js"} {
		sum := sha256.Sum256([]byte(asset(name)))
		sources = append(sources, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	return strings.Join(sources, " ")
}

// Write writes r as one HTML document. All that comes from r is escaped. The size of the
// document grows with the number of runs, not with their length. It returns the first
// error of w.
func Write(w io.Writer, r reports.Result) error {
	var buf bytes.Buffer
	if err := page.Execute(&buf, newView(r)); err != nil {
		return fmt.Errorf("write the HTML report: %w", err)
	}
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("write the HTML report: %w", err)
	}
	return nil
}
