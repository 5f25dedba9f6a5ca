package control

import "github.com/lockbench/lockbench/impls/design"

// Designs returns the controls: control/no-lock and control/atomic.
func Designs() []design.Design {
	const only = "it is a control for live runs, and no lock"
	return []design.Design{
		{
			Name: "control/no-lock", Control: design.NoLock,
			Summary: "grants to everybody and asks nobody: what becomes of the work without a lock",
			Source:  "a control, no lock", LiveOnly: only, Reacquire: design.Nested, Open: openFree,
		},
		{
			Name: "control/atomic", Control: design.OneRequest,
			Summary: "does each step of the workload in one request (a script, or SET NX), without a lock",
			Source:  "a control, no lock", LiveOnly: only, Reacquire: design.Nested,
			Commands: []string{"EVALSHA", "EVAL", "GET", "SET"}, Open: openFree,
		},
	}
}
