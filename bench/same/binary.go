package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// patience bounds the time of one call of a binary.
const patience = time.Minute

// A binary is a build of lockbench.
type binary struct{ path string }

// A resultFile is the part that we read of the JSON that check and explore write.
type resultFile struct {
	Runs []struct {
		History string
		Exit    *int
		Partial bool
		Cells   map[string]saidFinding
	}
}

// A saidFinding is a result file's finding for one cell.
type saidFinding struct {
	Verdict              string
	Claimed              bool
	Exposure, Violations int64
	Against              int64
	Counterexample       *saidCounterexample
}

// A saidCounterexample has the compared fields of a counterexample.
type saidCounterexample struct {
	Key string
	Ops []struct{ Client int32 }
}

// judgements are the judgements in the file, in the order of its runs.
func (r resultFile) judgements() (all []judgement) {
	for _, run := range r.Runs {
		j := judgement{partial: run.Partial, findings: map[string]finding{}}
		if run.Exit != nil {
			j.exit = *run.Exit
		}
		for name, f := range run.Cells {
			j.findings[name] = f.finding()
		}
		all = append(all, j)
	}
	return all
}

func (s saidFinding) finding() finding {
	f := finding{verdict: s.Verdict, claimed: s.Claimed, exposure: s.Exposure, violations: s.Violations, against: s.Against}
	if c := s.Counterexample; c != nil {
		var clients []int32
		for _, op := range c.Ops {
			clients = append(clients, op.Client)
		}
		f.key, f.clients = c.Key, clientList(clients)
	}
	return f
}

// judgeTogether judges files in one process, to save the start of others. It reports
// whether the result has as much as one process for each would give; an unreadable
// file spoils it for all.
func (b binary) judgeTogether(ctx context.Context, files []string) ([]judgement, bool) {
	r, exit, _ := b.call(ctx, append([]string{"check", "--out", "json=-"}, files...)...)
	if len(r.Runs) != len(files) {
		return nil, false
	}
	worst := 0
	for i, run := range r.Runs {
		if run.Exit == nil || run.History != files[i] || len(run.Cells) == 0 {
			return nil, false
		}
		if exitGravity(*run.Exit) > exitGravity(worst) {
			worst = *run.Exit
		}
	}
	return r.judgements(), worst == exit
}

// exitGravity orders exit codes as check does for several files: a broken claim first.
func exitGravity(code int) int {
	return map[int]int{0: 0, 4: 1, 3: 2, 1: 3}[code]
}

// judge judges one file, a history or a replay.
func (b binary) judge(ctx context.Context, file string) judgement {
	args := []string{"check", "--out", "json=-", file}
	if filepath.Ext(file) == replayExt {
		args = []string{"explore", "--quiet", "--out", "json=-", "--replay", file}
	}
	r, exit, said := b.call(ctx, args...)
	if len(r.Runs) != 1 || len(r.Runs[0].Cells) == 0 {
		return judgement{exit: exit, said: strings.ReplaceAll(said, file, filepath.Base(file))}
	}
	j := r.judgements()[0]
	j.exit = exit
	return j
}

// call runs the binary and returns its result, its exit code and the first line of its
// error output. A binary that cannot be started exits with -1.
func (b binary) call(ctx context.Context, args ...string) (r resultFile, exit int, said string) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var out, complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, b.path, args...)
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	said, _, _ = strings.Cut(complaint.String(), "\n")
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		exit = ended.ExitCode()
	case err != nil:
		exit, said = -1, err.Error()
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil && said == "" {
		said = fmt.Sprintf("no JSON: %v", err)
	}
	return r, exit, said
}

// usable returns the error in the path of a binary.
func (b binary) usable() error {
	info, err := os.Stat(b.path)
	switch {
	case err != nil:
		return fmt.Errorf("%w; hint: go build -o %s ./cmd/lockbench", err, b.path)
	case info.IsDir() || info.Mode()&0o111 == 0:
		return fmt.Errorf("%s is no program; hint: go build -o FILE ./cmd/lockbench", b.path)
	}
	return nil
}
