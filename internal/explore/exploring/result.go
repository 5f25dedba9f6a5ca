package exploring

import (
	"runtime"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/lib/buildinfo"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/results"
)

// Explored converts the result of an exploration into the form that reports show.
func Explored(cfg explore.Config, r explore.Result) results.Explored {
	e := results.Explored{
		Judged: results.Judged{
			Header:   header(cfg),
			Verdicts: checker.Result{Findings: r.Findings, Grants: r.Grants, Defects: r.Defects},
		},
		Coverage:   covered(r.Coverage),
		Schedules:  make(map[lockbench.Cell]results.Schedule),
		FoundAfter: make(map[lockbench.Cell]time.Duration),
		Elapsed:    r.Elapsed,
	}
	for cell, w := range r.Counterexamples {
		s := results.Schedule{Sentence: w.Sentence, FoundAt: w.FoundAt, Replay: string(w.Replay.Text)}
		if cfg.Design.Foreign {
			s.Arguments = cfg.Design.Arguments
		}
		for _, row := range w.Rows {
			s.Steps = append(s.Steps, results.Step{
				At: int64(row.At), Client: row.Client, Command: row.Command,
				Reply: row.Reply, Fault: row.Fault, Holders: row.Holders,
			})
		}
		e.Schedules[cell], e.FoundAfter[cell] = s, w.FoundAfter
	}
	return e
}

func covered(c explore.Coverage) results.Coverage {
	out := results.Coverage{
		Strategy: string(c.Strategy), Clients: c.Clients, Threads: c.Threads, Rounds: c.Rounds,
		Faults: max(0, c.Faults), Moves: max(0, c.Moves),
		Schedules: c.Schedules, Pruned: c.Pruned, Complete: c.Complete, Stopped: c.Stopped,
		Diverged: c.Diverged, Missing: c.Lacks,
	}
	for _, k := range c.Kinds {
		out.Kinds = append(out.Kinds, string(k))
	}
	return out
}

// header returns the settings of the exploration as the header of a run.
func header(cfg explore.Config) history.Header {
	d := &cfg.Design
	h := history.Header{
		Design: d.Name, Claims: d.Claims, Reacquire: string(d.Reacquire), Renews: d.Renews,
		Workload: cfg.Scenario, Seed: cfg.Seed, Params: params(cfg),
		Server:      runinfo.Server{Kind: "embedded", Version: "miniredis " + buildinfo.Module("github.com/alicebob/miniredis/v2")},
		Environment: Environment(),
	}
	for _, k := range cfg.Kinds {
		h.Faults = append(h.Faults, string(k))
	}
	return h
}

// Environment returns the environment of this process.
func Environment() runinfo.Environment {
	return runinfo.Environment{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version(), Version: buildinfo.Version()}
}

// params returns the parameters that [results.Coverage] does not have. A zero, which stands for the
// default of the design or the scenario, is left out.
func params(cfg explore.Config) map[string]any {
	all := map[string]any{
		"clients": float64(cfg.Clients), "rounds": float64(cfg.Rounds), "ttl_ns": float64(cfg.TTL),
	}
	for name, value := range map[string]float64{
		"threads": float64(cfg.Threads), "pool": float64(cfg.Pool), "wait_ns": float64(cfg.Wait), "skew_ns": float64(cfg.Skew),
	} {
		if value != 0 {
			all[name] = value
		}
	}
	if cfg.Guard != "" {
		all["guard"] = string(cfg.Guard)
	}
	return all
}
