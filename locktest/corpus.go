package locktest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/explore"
)

// directory returns the folder of a test's schedules, relative to the folder of
// its package.
func directory(test string) string {
	return filepath.Join("testdata", "lockbench", filepath.FromSlash(test))
}

// corpus returns the files of schedules to run again for a test.
func corpus(test string) []string {
	files, _ := filepath.Glob(filepath.Join(directory(test), "*.replay")) // the pattern is well formed
	slices.Sort(files)
	return files
}

func readReplay(file string) (explore.Replay, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return explore.Replay{}, fmt.Errorf("read a schedule: %w", err)
	}
	return explore.Replay{Text: text}, nil
}

// keep writes the schedule of cell to the corpus of the test, and returns its file. Equal schedules
// have one file.
func (r *Result) keep(cell lockbench.Cell) (file string, err error) {
	text := []byte(r.Tests[cell].Replay)
	hash := sha256.Sum256(text)
	file = filepath.Join(directory(r.name), fmt.Sprintf("%s-%x.replay", cell, hash[:4]))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", err
	}
	return file, os.WriteFile(file, text, 0o644)
}

// again says how to run the schedule in file again, empty if there is no file.
func (r *Result) again(file string) string {
	if file == "" {
		return ""
	}
	return fmt.Sprintf("run it again: %s=%s go test -run '%s'", replayVariable, file, pattern(r.name))
}

// pattern returns the argument of go test -run that selects one test.
func pattern(test string) string {
	var levels []string
	for level := range strings.SplitSeq(test, "/") {
		levels = append(levels, "^"+regexp.QuoteMeta(level)+"$")
	}
	return strings.Join(levels, "/")
}
