package bubble

import (
	"context"
	"os"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore"
)

// Child must be called first in the main function of a program that calls Run. It
// returns at once, unless this process is a child that Run started: then it
// explores as requested and exits. Find returns the design with a name and a
// [design.Design.Definition].
//
// It uses testing.Main because package testing promises to keep it, unlike
// MainStart, and because it sets up synctest, unlike RunTests.
func Child(find func(name, definition string) (design.Design, error)) {
	if os.Getenv(childVariable) == "" {
		return
	}
	enter(func(ctx context.Context, b explore.Bubble, r request, tell func(explore.Progress)) (explore.Result, error) {
		return run(ctx, b, find, r, tell)
	}, grace)
}

func run(ctx context.Context, b explore.Bubble, find func(name, definition string) (design.Design, error), r request, tell func(explore.Progress)) (explore.Result, error) {
	d, err := find(r.Design, r.Definition)
	if err != nil {
		return explore.Result{}, err
	}
	d.Claims = r.Claims
	if len(r.Replay) > 0 {
		return explore.Rerun(ctx, b, d, explore.Replay{Text: r.Replay})
	}
	r.Config.Design = d
	return explore.Run(ctx, b, r.Config, tell)
}
