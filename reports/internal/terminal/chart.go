package terminal

import (
	"strings"

	"github.com/guptarohit/asciigraph"

	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
)

// The size of a chart, and the marks and colours of its lines: colour is not the only
// sign.
const (
	chartHeight = 10
	chartWidth  = 60
)

var (
	chartMarks  = []string{"*", "o", "+", "x", "#", "@", "%", "&"}
	chartColors = []asciigraph.AnsiColor{asciigraph.Blue, asciigraph.Green, asciigraph.Red, asciigraph.Yellow, asciigraph.Purple, asciigraph.Cyan, asciigraph.White, asciigraph.Gray}
)

// chart draws lines over points at even distances.
func (p *page) chart(c *document.Chart, indent int) {
	var data [][]float64
	var legends []string
	var marks []asciigraph.CharSet
	var colors []asciigraph.AnsiColor
	for i, l := range c.Lines {
		mark := chartMarks[i%len(chartMarks)]
		data = append(data, l.Values)
		legends = append(legends, mark+" "+l.Label)
		marks = append(marks, asciigraph.CreateCharSet(mark))
		colors = append(colors, chartColors[i%len(chartColors)])
	}
	options := []asciigraph.Option{
		asciigraph.Height(chartHeight), asciigraph.Width(chartWidth), asciigraph.LowerBound(0),
		asciigraph.SeriesChars(marks...),
		asciigraph.YAxisValueFormatter(func(v float64) string { return figures.Number(int64(v)) }),
		asciigraph.XAxisRange(0, float64(len(c.X)-1)), asciigraph.XAxisTickCount(len(c.X)),
		asciigraph.XAxisValueFormatter(func(v float64) string { return c.X[min(max(0, int(v+0.5)), len(c.X)-1)] }),
	}
	if p.palette {
		options = append(options, asciigraph.SeriesColors(colors...), asciigraph.SeriesLegends(legends...))
	}
	p.line(indent, p.bold(c.Title)+": "+c.Caption+"; "+strings.Join(legends, ", "))
	p.line(0, "")
	for line := range strings.Lines(asciigraph.PlotMany(data, options...)) {
		p.line(indent, strings.TrimRight(line, "\n"))
	}
}
