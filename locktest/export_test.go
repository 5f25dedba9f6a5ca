package locktest

import (
	"slices"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/drive/standstill"
	"github.com/lockbench/lockbench/internal/explore"
)

// DesignOf returns the design that Explore makes of a lock without leases that tell their
// validity.
func DesignOf(name string, newLocker NewLocker) design.Design {
	return design.Design{
		Name: name, Summary: "a lock under test", Source: "locktest", Reacquire: design.Refused,
		Claims: lockbench.LeaseClaims(),
		Open: onredis.Open(func(env onredis.Environment) (design.Process, error) {
			p := open(nil, newLocker, env)
			return design.NewProcess(p.waitingLocker, p.close), nil
		}),
	}
}

// WithCases performs only the test cases of these cells.
func WithCases(cells ...lockbench.Cell) RunOption {
	return runOption(func(s *runSettings) {
		s.cases = slices.DeleteFunc(slices.Clone(testCases), func(p testCase) bool { return !slices.Contains(cells, p.cell) })
	})
}

// WithCase performs only the named test case.
func WithCase(name string) RunOption {
	return runOption(func(s *runSettings) {
		s.cases = slices.DeleteFunc(slices.Clone(testCases), func(p testCase) bool { return p.name != name })
	})
}

// Cases lists the name of each test case, and the name of the program that its owners
// run.
func Cases() (all [][2]string) {
	for _, p := range testCases {
		all = append(all, [2]string{p.name, p.program})
	}
	return all
}

// Report reports a result like Run, which cannot run within a bubble.
func Report(t *testing.T, r Result) {
	t.Helper()
	t.Log(r)
	r.report(t)
}

// WithClock sets the clock that shows standstills to the looks at renewal.
func WithClock(c standstill.Clock) RunOption { return runOption(func(s *runSettings) { s.clock = c }) }

// Row is a step of a schedule.
type Row = explore.Row

// SentAgain says which client sent a command of the schedule twice.
var SentAgain = sentAgain
