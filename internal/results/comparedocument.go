package results

import (
	"github.com/lockbench/lockbench"
)

// Shown is what shows that a cell is broken in NEW; nil when nothing does.
func (d *ComparedDesign) Shown(cell lockbench.Cell) *Finding {
	for _, o := range d.changed {
		if f := o.run.Cells[cell]; f.Shown() {
			return &f
		}
	}
	return nil
}

// Samples are the values of a figure in the runs of either side whose speed counts.
func (d *ComparedDesign) Samples(metric string) (base, changed []float64) {
	for _, f := range compared() {
		if f.name == metric {
			return f.sample(d.base), f.sample(d.changed)
		}
	}
	return nil, nil
}
