package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const replayExt = ".replay"

// extensions are the extensions of files to judge.
var extensions = []string{".lbh", ".jsonl", ".edn", replayExt}

// A corpus has the files to judge, by their names in golden files.
type corpus map[string]string

// openCorpus finds the histories and replays in folders. A name is the path below the
// first folder, or, for the other folder, the replays, its last element and the path
// below.
func openCorpus(folder, replays string) (corpus, error) {
	c := corpus{}
	if err := c.add(folder, ""); err != nil {
		return nil, err
	}
	if len(c) == 0 { // an empty folder is an error even with replays
		return nil, fmt.Errorf("%s holds no histories; hint: bench/corpus.sh DIR records some", folder)
	}
	if replays == "" {
		return c, nil
	}
	return c, c.add(replays, filepath.Base(replays))
}

func (c corpus) add(folder, prefix string) error {
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !slices.Contains(extensions, filepath.Ext(path)) {
			return err
		}
		below, err := filepath.Rel(folder, path)
		c[filepath.ToSlash(filepath.Join(prefix, below))] = path
		return err
	})
	if err != nil {
		return fmt.Errorf("read the corpus: %w; hint: bench/corpus.sh DIR records one", err)
	}
	return nil
}

// neutral copies the replays to place without their line about the violation: it names a
// guarantee, and one of the two builds may not know the name.
func (c corpus) neutral(place string) error {
	for name, path := range c {
		if filepath.Ext(path) != replayExt {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read a replay: %w", err)
		}
		copied := filepath.Join(place, strings.ReplaceAll(name, "/", "."))
		if err := os.WriteFile(copied, withoutBreaks(text), 0o644); err != nil {
			return fmt.Errorf("copy a replay: %w", err)
		}
		c[name] = copied
	}
	return nil
}

func withoutBreaks(text []byte) []byte {
	lines := slices.DeleteFunc(strings.SplitAfter(string(text), "\n"), func(l string) bool { return strings.HasPrefix(l, "breaks ") })
	return []byte(strings.Join(lines, ""))
}
