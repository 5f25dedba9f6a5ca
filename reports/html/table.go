package html

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/reports"
)

// A tableView is a table as the template shows it.
type tableView struct {
	reports.Table
	Rows []tableRow
}

// A tableRow is a line, of which Link is the id that its name leads to, empty for none.
type tableRow struct {
	Name, Link string
	Cells      []tableCell
}

// A tableCell is what stands in one place; Link is the id of the evidence.
type tableCell struct {
	reports.TableCell
	Link string
}

// newTable links the rows and cells of a table.
func newTable(t reports.Table, link func(row int) string, evidence func(row int, about lockbench.Cell) string) tableView {
	v := tableView{Table: t}
	for i, r := range t.Rows {
		row := tableRow{Name: r.Name, Link: link(i)}
		for _, c := range r.Cells {
			cell := tableCell{TableCell: c}
			if c.About.Guarantee != "" {
				cell.Link = evidence(i, c.About)
			}
			row.Cells = append(row.Cells, cell)
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// unlinked is for rows that lead nowhere.
func unlinked(int) string { return "" }
