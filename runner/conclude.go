package runner

import (
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/evidence"
	"github.com/lockbench/lockbench/results"
)

// conclude returns a function that draws the conclusions of a report; nil without [Plan.Conclude].
// The function explores nothing, since explorations run in child processes that main of the command
// starts.
func (p *Plan) conclude() func(*results.Result) {
	if !p.Conclude {
		return nil
	}
	designs := make([]design.Design, len(p.Subjects))
	for i := range p.Subjects {
		designs[i] = p.Subjects[i].Design
	}
	return func(report *results.Result) { evidence.Beside().Conclude(report, designs, nil) }
}
