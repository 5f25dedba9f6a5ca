package html

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
)

// The outcome, the CSS class and the sign of each tone. The sign has the meaning of the colour.
var (
	marks   = map[document.Tone]string{document.Good: "good", document.Weak: "open", document.Bad: "bad"}
	classes = map[document.Tone]string{document.Good: "held", document.Weak: "weak", document.Bad: "broken claimed", document.None: "none", document.Unclaimed: "broken"}
	signs   = map[document.Tone]string{document.Good: "✓", document.Weak: "?", document.Bad: "✗", document.None: "·", document.Unclaimed: "✗"}
)

// nodesOf returns the nodes of those blocks that a page shows.
func nodesOf(blocks []document.Block) g.Node {
	var nodes g.Group
	for _, b := range blocks {
		if document.Visible(b, document.Page) {
			nodes = append(nodes, g.Text("\n"), node(b))
		}
	}
	return nodes
}

func node(b document.Block) g.Node {
	switch b := b.(type) {
	case *document.Section:
		return section(b)
	case *document.Paragraph:
		return paragraph(b)
	case *document.List:
		return list(b)
	case *document.Table:
		return table(b)
	case *document.Chart:
		return chart(b)
	case *document.Timeline:
		return timeline(b)
	case *packed:
		return h.Div(h.Class("packed"), h.Data("of", b.ID), h.Data("packed", b.Text),
			h.P(h.Class("note"), g.Textf("%d cells with their evidence, which this browser does not unpack: ", len(b.Blocks)), h.Code(g.Text("lockbench explain")), g.Text(" shows them.")))
	}
	panic(fmt.Sprintf("a page has no form of %T", b))
}

func section(s *document.Section) g.Node {
	title, inside := arrow(cmp.Or(s.PageTitle, s.Title)), nodesOf(s.Blocks)
	heading := s.ID + "-h"
	switch {
	case s.Role == document.Subject:
		var dot g.Node
		if mark := marks[s.Mark]; mark != "" {
			dot = h.Span(h.Class("dot "+mark), hidden())
		}
		return h.Section(h.Class("run"), h.ID(s.ID), h.Aria("labelledby", heading), h.H2(h.ID(heading), dot, g.Text(title)), inside)
	case s.Role == document.Evidence:
		return h.Article(h.Class("evidence "+classes[s.Tone]), h.ID(s.ID), h.Aria("labelledby", heading),
			h.H3(h.ID(heading), sign(signs[s.Tone]), g.Text(" "+title), ifAny(s.Says, " ", h.Span, h.Class("tag"))), inside)
	case s.Role == document.Cell:
		return h.Details(h.Class("cell"), h.ID(s.ID), h.Summary(judged(s.SaysTone, title), g.Text(" "), h.Span(h.Class("says"), g.Text(cmp.Or(s.PageSays, s.Says)))), inside)
	case s.Role == document.Found:
		return h.Div(h.Class("found"), h.ID(s.ID), h.H3(judged(s.SaysTone, title), g.Text(" "), h.Span(h.Class("says"), g.Text(s.Says))), inside)
	case s.Role == document.Charts:
		return h.Div(h.Class("charts"), inside)
	case s.Folded:
		return h.Details(h.Summary(g.Text(title), ifAny(s.Says, " ", h.Code)), inside)
	case s.ID != "":
		return h.Section(h.Aria("labelledby", s.ID), h.H2(h.ID(s.ID), g.Text(capital(title))), inside)
	case title != "":
		return h.Section(h.Class("plain"), h.H2(g.Text(capital(title))), inside)
	}
	return inside
}

// hidden is the attribute of an element that says nothing to a reader who hears the page.
func hidden() g.Node { return h.Aria("hidden", "true") }

// sign returns a sign, which repeats what the words beside it say.
func sign(text string) g.Node { return h.I(h.Class("sign"), hidden(), g.Text(text)) }

// judged returns a title with the sign and the colour of its tone.
func judged(tone document.Tone, title string) g.Node {
	return h.Span(h.Class(classes[tone]), sign(signs[tone]), g.Text(" "+title))
}

// ifAny returns text in an element with these attributes, after something between it and what stands
// before; nil for no text.
func ifAny(text, between string, element func(...g.Node) g.Node, attributes ...g.Node) g.Node {
	if text == "" {
		return nil
	}
	return g.Group{g.Text(between), element(append(attributes, g.Text(text))...)}
}

// link returns a link to an ID of the page.
func link(id string, inside ...g.Node) g.Node {
	return h.A(append([]g.Node{h.Href("#" + id)}, inside...)...)
}

func paragraph(p *document.Paragraph) g.Node {
	switch {
	case len(p.Facts) > 0:
		return h.P(h.Class("facts"), g.Map(p.Facts, func(fact string) g.Node { return h.Span(g.Text(arrow(fact))) }))
	case len(p.Links) > 0 && p.Text == "":
		return h.Nav(h.Aria("label", "Parts"), h.P(h.Class("jump"), g.Map(p.Links, func(l document.Link) g.Node {
			return g.Group{link(l.ID, g.Text(l.Text)), g.Text(" ")}
		})))
	case p.Strong:
		return h.P(h.Class("sentence"), g.Text(p.Text+"."))
	case strings.Contains(p.Code, "\n"):
		return h.Pre(h.TabIndex("0"), g.Text(p.Code))
	}
	return h.P(h.Class("note"), ifAny(p.Word, "", h.Strong), g.If(p.Word != "", g.Text(" ")), g.Text(arrow(p.Text)), ifAny(p.Code, " ", h.Code),
		g.Map(p.Links, func(l document.Link) g.Node {
			if l.ID == "" {
				return g.Text(" " + l.Text)
			}
			return g.Group{g.Text(" "), link(l.ID, g.Text(l.Text))}
		}))
}

func list(l *document.List) g.Node {
	class := "facts"
	if slices.ContainsFunc(l.Items, func(i document.Item) bool { return i.Tone != document.Plain }) {
		class = "verdicts"
	}
	return g.Group{
		ifAny(capital(l.Title), "", h.H3, h.Class("heading")),
		h.Ul(h.Class(class), g.Map(l.Items, item)),
	}
}

func item(i document.Item) g.Node {
	var tone g.Group // the class and the sign
	if i.Tone != document.Plain {
		text := signs[i.Tone]
		if i.Sign != "" {
			text = ""
		}
		tone = g.Group{h.Class(classes[i.Tone]), sign(text)}
	}
	mark := i.Sign
	if mark != "" {
		mark += " "
	}
	var word g.Node
	switch {
	case i.Link != "":
		word = g.Group{link(i.Link, g.Text(mark+i.Word)), g.Text(" ")}
	case i.Word != "":
		word = g.Group{g.Text(mark), h.Strong(g.Text(i.Word)), g.Text(" ")}
	default:
		word = g.Text(mark)
	}
	return g.Group{g.Text("\n"), h.Li(tone, h.Span(word, ifAny(i.Name, "", h.B), g.If(i.Name != "", g.Text(" ")), g.Text(arrow(i.Text))))}
}

func chart(c *document.Chart) g.Node {
	class := "chart"
	if c.Full {
		class += " full"
	}
	return h.Figure(h.Class(class), h.Data("chart", c.Kind), g.If(c.Subject != "", h.Data("run", c.Subject)),
		h.FigCaption(h.B(g.Text(c.Title)), g.Text(": "+c.Caption)), h.Div(h.Class("plot"), h.Aria("label", c.Says)))
}

func timeline(t *document.Timeline) g.Node {
	about, legend := "One lane per client.", g.Group{
		g.Text("solid bar: within the lease"), g.Text("striped: past it"), g.Text("dotted: waiting"), g.Text("red, crossed: two hold it at once"),
		keyed("G", "granted"), keyed("|", "lease over"), keyed("R", "release"), keyed("E", "extend or renewal"),
		g.Group{h.B(g.Text("r")), g.Text(" "), keyed("w", "read, write")}, keyed("A", "acquire, not granted"), g.Text("bracket: until the answer"),
	}
	if t.Steps {
		about = "One lane per client, one column per step."
		legend = g.Group{g.Text("bar: believes that it holds the lock"), g.Text("red: two believe so"), g.Text("! a fault")}
	}
	var key g.Node
	if t.Key != "" {
		key = g.Group{g.Text("Key "), h.Code(g.Text(t.Key)), g.Text(". ")}
	}
	return g.Group{
		h.Figure(h.Class("lanes"), h.Data("picture", t.ID), h.ID(t.ID+"-picture"),
			h.FigCaption(key, g.Text(about)),
			h.Div(h.Class("stage")),
			h.P(h.Class("legend signs"), g.Map(legend, func(n g.Node) g.Node { return g.Group{h.Span(n), g.Text(" ")} })),
			h.P(h.Class("readout"), h.Aria("live", "polite"))),
		g.If(len(t.Entries) > 0, h.Details(h.Summary(g.Text("The operations, in words")), wide("Operations", h.Table(h.Class("ops"),
			h.THead(h.Tr(g.Map([]string{"time", "client", "operation"}, func(name string) g.Node { return h.Th(h.Scope("col"), g.Text(name)) }))),
			h.TBody(g.Map(t.Entries, func(e document.Entry) g.Node {
				return h.Tr(h.Td(g.Text(figures.Moment(e.At))), h.Td(g.Text(e.Lane)), h.Td(g.Text(e.Words)))
			})))))),
		g.If(t.More != 0, h.P(h.Class("note"), g.Textf("And %v more, in the JSON result.", t.More))),
	}
}

// keyed explains a letter of a picture.
func keyed(name, means string) g.Node { return g.Group{h.B(g.Text(name)), g.Text(" " + means)} }

// wide returns a part that scrolls to the side if it has no room.
func wide(label string, inside g.Node) g.Node {
	return h.Div(h.Class("wide"), h.TabIndex("0"), h.Role("region"), h.Aria("label", label), inside)
}

func table(t *document.Table) g.Node {
	var body g.Node
	if len(t.Rows) > 0 {
		label := arrow(t.Title)
		if label == "" {
			label = capital(t.Corner)
		}
		body = wide(label, h.Table(h.Class(look(t)), g.If(t.Title != "", h.Caption(h.Span(g.Text(arrow(t.Title))))),
			h.THead(heads(t)), h.TBody(g.Map(t.Rows, func(r document.Row) g.Node { return row(t, r) }))))
	}
	return g.Group{body, g.If(len(t.Notes) > 0, h.P(h.Class("legend"), g.Map(t.Notes, func(note string) g.Node { return g.Group{h.Span(g.Text(note)), g.Text(" ")} })))}
}

// heads returns the rows at the head of a table.
func heads(t *document.Table) g.Node {
	column := h.Scope("col")
	var above g.Node
	if slices.ContainsFunc(t.Columns, func(c document.Column) bool { return c.Above != "" }) {
		above = h.Tr(h.Td(), g.Map(t.Columns, func(c document.Column) g.Node { return h.Th(column, g.Text(c.Above)) }))
	}
	return g.Group{above, h.Tr(h.Th(column, g.Text(t.Corner)),
		g.Map(t.Columns, func(c document.Column) g.Node {
			if c.Full != "" {
				return h.Th(column, h.Class("turned"), h.Span(g.Text(c.Full)))
			}
			return h.Th(column, h.Class("design"), g.Text(c.Name))
		}),
		g.If(dotted(t), h.Th(column, g.Text("every run"))))}
}

func row(t *document.Table, r document.Row) g.Node {
	title := name(r.Name)
	if r.Link != "" {
		title = link(r.Link, title)
	}
	cells := g.Group{h.Th(h.Scope("row"), title, ifAny(r.About, "", h.Span, h.Class("means")))}
	for i, v := range r.Cells {
		cells = append(cells, value(v, t.Columns[i], t.Blank))
	}
	for _, v := range r.Cells {
		if v.Dots != nil {
			cells = append(cells, h.Td(strip(v.Dots)))
		}
	}
	return g.Group{g.Text("\n"), h.Tr(cells)}
}

func value(v document.Value, c document.Column, blank string) g.Node {
	cell := g.Group{g.If(c.Prose, h.Data("head", c.Name)), g.If(v.Tone != document.Plain, h.Class(v.Tone.String())), g.If(v.Note != "", h.Title(v.Note))}
	text := g.Text(v.Text)
	switch {
	case v.Link != "":
		text = link(v.Link, text)
	case v.Text == "":
		text = ifAny(blank, "", h.Small)
	case c.Code:
		text = h.Code(text)
	}
	var aside g.Node
	switch {
	case v.Aside != "" && v.Sign != "":
		aside = g.Group{g.Text(" "), h.Span(hidden(), g.Text(v.Sign)), g.Text(" " + v.Aside)}
	case v.Aside != "":
		aside = ifAny(v.Aside, " ", h.Span, h.Class("dim"))
	case v.Note != "" && v.Dots != nil:
		aside = h.Span(h.Class("vh"), g.Text(" "+v.Note))
	}
	return h.Td(cell, text, aside)
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

func stripX(share float64) string {
	return fmt.Sprintf("%.1f", stripFrom+stripMargin+(stripTo-stripFrom-2*stripMargin)*share)
}

// strip draws the values behind a figure, a line for each side.
func strip(d *document.Dots) g.Node {
	drawn := g.Group{h.Class("strip"), g.Attr("viewBox", "0 0 218 46"), h.Width("218"), h.Height("46"), h.Role("img"), h.Aria("label", d.Says)}
	for i, s := range d.Sides {
		y := strconv.Itoa(10 + 16*i)
		line := g.Group{h.Class(s.Name), svgText(g.Attr("x", "0"), g.Attr("y", y), g.Attr("dy", "3"), g.Text(s.Name)), path("rail", "M32 "+y+"H212")}
		if s.Known {
			line = append(line, path("interval", "M"+stripX(s.From)+" "+y+"H"+stripX(s.To)))
		}
		for _, v := range s.Values {
			if i == 0 {
				line = append(line, g.El("circle", h.Class("dot"), g.Attr("cx", stripX(v)), g.Attr("cy", y), g.Attr("r", "3")))
			} else {
				line = append(line, path("dot", "M"+stripX(v)+" "+y+"m-3.6 0l3.6-3.6 3.6 3.6-3.6 3.6z"))
			}
		}
		drawn = append(drawn, g.El("g", line, path("median", "M"+stripX(s.Median)+" "+y+"m0-6v12")))
	}
	y := g.Attr("y", "44")
	return h.SVG(drawn, svgText(g.Attr("x", "32"), y, g.Text(d.Low)), svgText(g.Attr("x", "212"), y, g.Attr("text-anchor", "end"), g.Text(d.High)))
}

// path and svgText return elements of SVG.
func path(class, d string) g.Node     { return g.El("path", h.Class(class), g.Attr("d", d)) }
func svgText(inside ...g.Node) g.Node { return g.El("text", inside...) }
