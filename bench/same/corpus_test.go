package main

import (
	"encoding/json"
	"flag"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/results"
)

var update = flag.Bool("update", false, "rewrite what the golden file of the corpus says of histories")

const (
	corpusFolder = "../corpus"
	goldenFile   = corpusFolder + "/golden.txt"
	faultFolder  = "../../internal/explore/testdata/faults"
)

// TestCorpus judges the histories of bench/corpus as lockbench check does, and compares
// with the golden file. Replays need a process each: bench/same.sh runs them.
func TestCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("judges a thousand histories, each in one goroutine")
	}
	want, err := readGolden(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	got := judgeHere(t)
	if *update {
		maps.Copy(got, replaysOf(t, want))
		if err := writeGolden(goldenFile, got); err != nil {
			t.Fatal(err)
		}
		return
	}
	for name := range replaysOf(t, want) {
		delete(want, name)
	}
	if len(got) == 0 {
		t.Fatal("no history; hint: bench/corpus.sh records them")
	}
	c, err := compare(want, got, mapping{fields: allFields})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range c.differences {
		t.Errorf("golden (OLD) and here (NEW) differ: %s; hint: -update where that is wanted", d)
	}
}

// TestCorpusReplays wants each replay in the golden file, and nothing else.
func TestCorpusReplays(t *testing.T) {
	golden, err := readGolden(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	names := func(js judgements) []string {
		return slices.DeleteFunc(slices.Sorted(maps.Keys(js)), func(n string) bool { return filepath.Ext(n) != replayExt })
	}
	if diff := cmp.Diff(names(golden), names(replaysOf(t, nil))); diff != "" {
		t.Errorf("(-golden +folders):\n%s; hint: STAGES=golden bench/corpus.sh bench/corpus", diff)
	}
}

// replaysOf returns the golden judgements of replays in the corpus.
func replaysOf(t *testing.T, golden judgements) judgements {
	t.Helper()
	c, err := openCorpus(corpusFolder, faultFolder)
	if err != nil {
		t.Fatal(err)
	}
	js := judgements{}
	for name := range c {
		if filepath.Ext(name) == replayExt {
			js[name] = golden[name]
		}
	}
	return js
}

// judgeHere judges the histories of the corpus in this process.
func judgeHere(t *testing.T) judgements {
	t.Helper()
	c, err := openCorpus(corpusFolder, "")
	if err != nil {
		t.Fatal(err)
	}
	js := judgements{}
	var guard sync.Mutex
	var all sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	for name, path := range c {
		if filepath.Ext(path) == replayExt {
			continue
		}
		room <- struct{}{}
		all.Go(func() {
			j, err := judgeFile(path)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			guard.Lock()
			js[name] = j
			guard.Unlock()
			<-room
		})
	}
	all.Wait()
	return js
}

// judgeFile judges one history, and reads the result in the same way as a command's.
func judgeFile(path string) (judgement, error) {
	src, err := history.Open(path)
	if err != nil {
		return judgement{exit: exitBadInput, said: err.Error()}, nil
	}
	if c, closes := src.(io.Closer); closes {
		defer c.Close()
	}
	j := results.Judged{Header: src.Header(), History: path}
	add, finish := checker.Parallel(j.Header, 2)
	figures := measure.New(j.Header)
	for ev, err := range src.Events() {
		if err != nil {
			j.Err = err
			break
		}
		add(ev)
		figures.Add(ev)
	}
	if j.End = src.End(); j.End.Partial {
		j.Err = nil // the end has the place and the reason
	}
	j.Verdicts, j.Measures = finish(j.End), figures.Result(j.End)
	return shown(results.New([]results.Judged{j}, nil))
}

// shown reads back the JSON result of one history.
func shown(r results.Result) (judgement, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return judgement{}, err
	}
	var file resultFile
	if err := json.Unmarshal(text, &file); err != nil {
		return judgement{}, err
	}
	return file.judgements()[0], nil
}
