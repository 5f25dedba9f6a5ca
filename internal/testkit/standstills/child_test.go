//go:build unix

package standstills

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// breaksAlone reports whether a live run without faults can show that the cell is broken, with two
// owners inside.
func breaksAlone(cell lockbench.Cell) bool {
	return cell.Guarantee == lockbench.Exclusion && (cell.Under == 0 || cell.Under == lockbench.Outlived)
}

// lockOf finds a lock by its name.
func lockOf(name string) (design.Design, error) {
	for _, m := range mutants.Mutants() {
		if d := m.Design(); d.Name == name {
			return d, nil
		}
	}
	for _, d := range mutants.Sound() {
		if d.Name == name {
			return d, nil
		}
	}
	found, err := impls.Match(name)
	if err != nil {
		return design.Design{}, err
	}
	return found[0], nil
}

// childVariable has the task of a child, as JSON.
const childVariable = "LOCKBENCH_TEST_STANDSTILL"

// A task is what a child runs.
type task struct {
	Lock    string
	Lease   time.Duration
	Servers []string
}

// child runs one lock, and prints a line when it begins and one with its outcome. It returns the
// exit code of the process.
func child(text string) int {
	fmt.Println("begun")
	o, err := perform(text)
	if err != nil {
		o.Error = err.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
		return 2
	}
	return 0
}

func perform(text string) (outcome, error) {
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return outcome{}, err
	}
	d, err := lockOf(t.Lock)
	if err != nil {
		return outcome{}, err
	}
	plan := runner.Plan{
		Subjects: []runner.Subject{{Design: d}}, Workload: workloads.Must("oversell"),
		Options: workloads.Defaults(), Servers: t.Servers,
	}
	o := &plan.Options
	o.TTL, o.Duration, o.Clients, o.Keys, o.Wait = t.Lease, duration, 16, 6, 250*time.Millisecond
	o.Slow = 0.05 // holds that outlive their lease
	result, err := runner.Run(context.Background(), plan)
	if err != nil {
		return outcome{}, err
	}
	return outcomeOf(&result.Runs[0]), nil
}

func outcomeOf(run *results.Judged) outcome {
	o := outcome{Grants: run.Verdicts.Grants, Standstill: run.Verdicts.Standstills.For, Defects: run.Verdicts.Defects, History: run.History}
	for _, f := range run.Verdicts.Findings {
		if f.Against > 0 {
			o.Against = append(o.Against, fmt.Sprintf("%s %d/%d", f.Cell, f.Against, f.Exposure))
		}
	}
	for _, n := range run.End.Trailer.MonitorOverlaps {
		o.Overlaps += n
	}
	if run.Err != nil {
		o.Error = run.Err.Error()
	}
	return o
}
