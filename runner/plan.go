package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
	"github.com/lockbench/lockbench/workloads"
)

// A Plan describes runs. Subjects, Workload and Options are needed, the rest may be left out.
type Plan struct {
	// Subjects are run one after the other.
	Subjects []Subject
	// Workload is the program of the clients, with its Options. Zero options that have a
	// default are filled in.
	Workload workloads.Program
	Options  workloads.Options
	// Share is the part of the runs that is made here. [Join] joins the judgements of all parts. The
	// zero Share is all.
	Share runinfo.Share
	// Machines make the load of the runs, on Servers, in place of this process; nil makes it here.
	Machines Machines
	// Faults are the faults of each run, in the form of lockbench run --fault:
	// "lost-reply,p=0.01".
	Faults []string
	// Servers are the URLs of the servers. If it is empty, private servers from PATH are
	// started, or else embedded ones.
	Servers []string
	// History is the directory for the histories of all runs. If it is empty, only histories
	// with a violation or an error are kept, in a temporary directory.
	History string
	// FailFast ends all runs within about a second of a violation of a claim.
	FailFast bool
	// AbortOn are thresholds, in the form of lockbench run --fail-if. A run ends as soon as it
	// is certain to fail one, which is possible for counts of errors and for maxima.
	AbortOn []string
	// Conclude adds a conclusion about each design to [Result.Report]. It rests on the runs
	// and, for designs of the catalogue, on the released matrix under the usual conditions.
	// Nothing is explored: lockbench run explores designs of the catalogue beside the runs,
	// and locktest.Explore any lock.
	Conclude bool
	// Before is called before each run, when the servers are reached; nil does nothing. It is for work
	// on the subject that takes long, and is in vain if a server cannot be reached.
	Before func(context.Context, Subject)
	// SelfCheck adds a last run, under the same settings, of a lock that is broken on purpose.
	SelfCheck bool
	// SelfCheckAt changes the options of the self-check; nil leaves them. A search uses it, since
	// it finds the options for its self-check only while it runs.
	SelfCheckAt func(*workloads.Options)
	// Next returns the next subject, chosen from Subjects by the results so far, and false at the
	// end. If it is nil, Subjects run in order.
	Next func(*Result) (Subject, bool)
}

// Check returns an error if the plan is invalid, as far as that can be found without starting
// anything.
func (p *Plan) Check() error {
	_, err := p.parse()
	return err
}

// parsed has the parts of a plan that are given as text.
type parsed struct {
	faults  []fault.Fault
	abortOn []thresholds.Threshold
}

func (p *Plan) parse() (all parsed, err error) {
	switch {
	case len(p.Subjects) == 0:
		return all, errors.New("no subject to run; hint: a design of impls.All, or one of your own")
	case p.Workload.Step == nil && p.Workload.Part == nil:
		return all, errors.New("no workload to run; hint: one of workloads.All, or one of your own")
	}
	for i := range p.Subjects {
		o, err := p.Workload.Options(p.Subjects[i].options(p.Options))
		if err != nil {
			return all, fmt.Errorf("workload %s: %w", p.Workload.Name, err)
		}
		if p.Share.Of > max(1, o.Groups) {
			return all, fmt.Errorf("share %v: %d groups cannot be divided so; hint: %d groups or more", p.Share, max(1, o.Groups), p.Share.Of)
		}
		if p.Machines != nil && p.Machines.Len() > max(1, o.Groups) {
			return all, fmt.Errorf("%d machines: %d groups cannot be divided so; hint: %[1]d groups or more", p.Machines.Len(), max(1, o.Groups))
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
