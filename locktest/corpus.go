package locktest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

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

// keep writes the schedule of f to the corpus of the test, unless it comes from
// there, and returns its file. Equal schedules have one file.
func (r Result) keep(f Finding) (file string, err error) {
	if f.file != "" {
		return f.file, nil
	}
	text := []byte(f.Replay())
	hash := sha256.Sum256(text)
	file = filepath.Join(directory(r.name), fmt.Sprintf("%s-%x.replay", f.Cell, hash[:4]))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", err
	}
	return file, os.WriteFile(file, text, 0o644)
}

// again says how to run the schedule of f again.
func (r Result) again(f Finding) string {
	if f.file == "" {
		return ""
	}
	return fmt.Sprintf("run it again: %s=%s go test -run '%s'", replayVariable, f.file, pattern(r.name))
}

// pattern returns the argument of go test -run that selects one test.
func pattern(test string) string {
	var levels []string
	for level := range strings.SplitSeq(test, "/") {
		levels = append(levels, "^"+regexp.QuoteMeta(level)+"$")
	}
	return strings.Join(levels, "/")
}
