package results

import (
	"fmt"

	"github.com/lockbench/lockbench"
)

// A CellName says which cell of which matrix.
type CellName struct {
	Design string
	// Cell is the zero value for all of the design.
	Cell lockbench.Cell
	// File is where the matrix is kept, empty for nowhere.
	File string
}

// Designs are those of the rows, in their order.
func (m *Matrix) Designs() []string {
	var names []string
	for i := range m.Rows {
		names = append(names, m.Rows[i].Design)
	}
	return names
}

// CellReplay returns the schedule that shows a cell, as lockbench explore --replay takes
// it; an error when the matrix has none.
func CellReplay(m Matrix, at CellName) (string, error) {
	if r := m.Row(at.Design); r != nil {
		for _, p := range r.Parts.On(at.Cell) {
			if s := p.Cells.Shown[at.Cell].Schedule; s != nil && s.Replay != "" {
				return s.Replay, nil
			}
		}
	}
	return "", fmt.Errorf("no schedule shows %s of %s; hint: only what explore found broken has one", at.Cell, at.Design)
}
