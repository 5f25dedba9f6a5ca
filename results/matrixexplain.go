package results

import (
	"fmt"

	"github.com/lockbench/lockbench"
)

// A CellName names a cell of a design in a matrix.
type CellName struct {
	Design string
	// Cell is the cell; the zero Cell names the whole design.
	Cell lockbench.Cell
	// File is the path of the matrix, empty if it has none.
	File string
}

// Designs returns the names of the designs, in the order of the rows.
func (m *Matrix) Designs() []string {
	var names []string
	for i := range m.Rows {
		names = append(names, m.Rows[i].Design)
	}
	return names
}

// CellReplay returns the text of the replay file of a schedule that breaks a cell, for lockbench
// explore --replay. It returns an error if the matrix has no such schedule.
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
