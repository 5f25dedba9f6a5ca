package matrix

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/cli/progress"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/exploring"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
)

// liveSink adds the findings of the live runs of a part to the matrix. It announces no
// breaches, since the matrix shows them.
func (s *Session) liveSink(ctx context.Context, p livePart, kept bool) runner.Sink {
	var name string
	var subject runner.Subject
	return runner.Sink{
		Say: func(text string) { s.progress.Say("%s", text) },
		Begin: func(of runner.Subject, _ func() runner.Progress) {
			name, subject = of.Design.Name, of
			s.progress.Now(p.name, name)
		},
		End: func(j *results.Judged) {
			found := *j
			if !kept {
				found.History = ""
			}
			part := results.Part{Name: p.name, Command: p.command(&subject, s.Load), Complete: ctx.Err() == nil}
			if name == mutants.SelfCheckName {
				part.MustBreak, part.Command = p.mustBreak, ""
			}
			s.row(name).AddRun(part, &found)
			s.save()
			s.progress.Finished(p.name, name, progress.Gist(j))
		},
	}
}

// exploreSink adds the findings of explorations to the matrix.
func (s *Session) exploreSink(ctx context.Context, c explore.Config) exploring.Sink {
	var adding sync.Mutex
	return exploring.Sink{
		Say:   func(text string) { s.progress.Say("%s", text) },
		Begin: func(design string) { s.progress.Now(Explore, design) },
		SoFar: func(string, string, explore.Progress) {},
		End: func(design string, runs []results.Explored) {
			if len(runs) == 0 {
				return
			}
			adding.Lock()
			defer adding.Unlock()
			part := results.Part{Name: Explore, Command: exploreCommand(design, c), Complete: ctx.Err() == nil}
			if design == mutants.SelfCheckName {
				part.MustBreak, part.Command = lateRelease, ""
			}
			s.row(design).AddExplored(part, runs)
			s.save()
			s.progress.Finished(Explore, design, progress.ExplorationGist(runs))
		},
	}
}

// exploreCommand returns the command that explores a design again.
func exploreCommand(design string, c explore.Config) string {
	parts := []string{"lockbench explore", design, fmt.Sprintf("--seed %d", c.Seed)}
	if c.Schedules > 0 {
		parts = append(parts, fmt.Sprintf("--schedules %d", c.Schedules))
	} else {
		parts = append(parts, fmt.Sprintf("--budget %v", c.Budget.Round(time.Millisecond)))
	}
	return strings.Join(parts, " ")
}
