package runner

import (
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/thresholds"
	"github.com/lockbench/lockbench/workloads"
)

// A Plan is what to run, and how. Subjects, Workload and Options are needed, the rest may be
// left out.
type Plan struct {
	// Subjects are run one after the other.
	Subjects []Subject
	// Workload is what the clients do, Options how; zero values of the options that have a
	// default are filled in.
	Workload workloads.Program
	Options  workloads.Options
	// Faults are what goes wrong in each run, as lockbench run --fault has them:
	// "lost-reply,p=0.01".
	Faults []string
	// Servers are the URLs of the servers. Where there are none, private servers from PATH
	// are started, or else embedded ones.
	Servers []string
	// History is the directory that keeps the history of every run. Empty keeps only those
	// that show something, in a temporary directory.
	History string
	// FailFast ends everything within about a second of a violation that counts against the
	// claims.
	FailFast bool
	// AbortOn are thresholds, as lockbench run --fail-if has them. A run ends as soon as it is
	// certain to fail one, which it can be of counts of what goes wrong and of maxima.
	AbortOn []string
	// Conclude has a conclusion drawn of each design, in [Result.Report]: by what the runs see
	// and, of designs of the catalogue, by what the released matrix knows, over the usual
	// conditions. Nothing is explored: lockbench run does that beside, of designs of the
	// catalogue, and locktest.Explore of any lock.
	Conclude bool
	// SelfCheck has a lock that is broken on purpose run last, under the same settings.
	SelfCheck bool
	// SelfCheckAt changes the options of the self-check, where a search has found out which
	// they are to be; nil leaves them.
	SelfCheckAt func(*workloads.Options)
	// Next decides by what came of the runs so far what to run next, and false when nothing
	// is; Subjects are then the designs that it chooses from. Nil is Subjects in their order.
	Next func(*Result) (Subject, bool)
}

// Check returns what is wrong with the plan, as far as that can be said before anything is
// started.
func (p *Plan) Check() error {
	_, err := p.parse()
	return err
}

// parsed is what a plan says in words.
type parsed struct {
	faults  []fault.Fault
	abortOn []thresholds.Threshold
}

func (p *Plan) parse() (all parsed, err error) {
	switch {
	case len(p.Subjects) == 0:
		return all, errors.New("no subject to run; hint: a design of impls.All, or one of your own")
	case p.Workload.Step == nil:
		return all, errors.New("no workload to run; hint: one of workloads.All, or one of your own")
	}
	for i := range p.Subjects {
		if _, err := p.Workload.Options(p.Subjects[i].options(p.Options)); err != nil {
			return all, fmt.Errorf("workload %s: %w", p.Workload.Name, err)
		}
	}
	if all.faults, err = fault.ParseAll(p.Faults); err != nil {
		return all, err
	}
	for _, text := range p.AbortOn {
		t, err := thresholds.ParseThresholdOf(text, thresholds.Live)
		if err != nil {
			return all, err
		}
		all.abortOn = append(all.abortOn, t)
	}
	return all, nil
}
