package checker_test

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/results"
)

var updateCorpus = flag.Bool("update", false, "rewrite the golden file of the corpus")

// The corpus has histories of live runs with and without faults (faults, mixes, works), beside
// standstills (stalls), of locktest (tried) and of generators (synthetic, simulated); torn copies
// (torn); the cases of testdata/cases.txt (cases); histories of verdicts that were wrong once
// (found), and histories for rules that no other depends on (written). A new history is put into its
// folder, and -update adds its lines.
const (
	corpus       = "../bench/corpus"
	corpusGolden = corpus + "/golden.txt"
)

// goldenHead begins the golden file. Sorted lines follow, so that a diff shows what changes.
const goldenHead = `# lockbench golden 2
# HISTORY exit CODE [partial] [WHY IT CANNOT BE JUDGED]
# HISTORY CELL VERDICT claimed|- EXPOSURE VIOLATIONS AGAINST [KEY CLIENTS of the clearest violation]
`

// judgement is the result for one history.
type judgement struct {
	exit  string        // with what follows it in the golden file
	cells checker.Cells // nil if the history cannot be judged
}

// lines are the lines of a golden file.
func (j judgement) lines(name string) (all []string) {
	for cell, f := range j.cells {
		all = append(all, fmt.Sprintf("%s %s %s", name, cell, line(f)))
	}
	slices.Sort(all)
	return append([]string{name + " exit " + j.exit}, all...)
}

func line(f checker.Finding) string {
	claimed := "-"
	if f.Claimed {
		claimed = "claimed"
	}
	text := fmt.Sprintf("%s %s %d %d %d", f.Verdict, claimed, f.Exposure, f.Violations, f.Against)
	c := f.Counterexample
	if c == nil || c.Key == "" && len(c.Ops) == 0 {
		return text
	}
	var clients []int
	for i := range c.Ops {
		clients = append(clients, int(c.Ops[i].Client))
	}
	slices.Sort(clients)
	text += fmt.Sprintf(" %q", c.Key)
	for i, client := range slices.Compact(clients) {
		text += map[bool]string{true: " ", false: ","}[i == 0] + strconv.Itoa(client)
	}
	return text
}

// TestCorpus judges the histories of the corpus as lockbench check does, and compares with the golden
// file. Each guarantee is broken in one of them and held in another.
func TestCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("judges a thousand histories, each in one goroutine")
	}
	all := judgeHistories(t)
	if len(all) == 0 {
		t.Fatalf("no history in %s", corpus)
	}
	wantBothVerdicts(t, all)
	var got []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		got = append(got, all[name].lines(name)...)
	}
	if *updateCorpus {
		if err := os.WriteFile(corpusGolden, []byte(goldenHead+strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(corpusGolden)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(strings.TrimPrefix(string(text), goldenHead), "\n"), "\n")
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +golden):\n%s\nhint: -update if that is wanted, and git diff shows which", diff)
	}
}

// wantBothVerdicts wants each guarantee broken in a history and, where there was an occasion to break
// it, held in another.
func wantBothVerdicts(t *testing.T, all map[string]judgement) {
	t.Helper()
	broken, held := map[lockbench.Guarantee]bool{}, map[lockbench.Guarantee]bool{}
	for _, j := range all {
		for _, g := range lockbench.Guarantees() {
			switch f := j.cells.Sum(g.Name.At(0)); {
			case f.Verdict == checker.Broken:
				broken[g.Name] = true
			case f.Verdict == checker.Held && f.Exposure > 0:
				held[g.Name] = true
			}
		}
	}
	for _, g := range lockbench.Guarantees() {
		if !broken[g.Name] || !held[g.Name] {
			t.Errorf("%s: broken in a history %t, held in another %t; want both", g.Name, broken[g.Name], held[g.Name])
		}
	}
}

// judgeHistories returns the judgement of each history by its path in the corpus.
func judgeHistories(t *testing.T) map[string]judgement {
	t.Helper()
	all := map[string]judgement{}
	var guard sync.Mutex
	var group sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	err := filepath.WalkDir(corpus, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !slices.Contains([]string{".lbh", ".jsonl", ".edn"}, filepath.Ext(path)) {
			return err
		}
		name, err := filepath.Rel(corpus, path)
		room <- struct{}{}
		group.Go(func() {
			j := judgeHistory(path)
			j.exit = strings.ReplaceAll(j.exit, path, e.Name())
			guard.Lock()
			all[filepath.ToSlash(name)] = j
			guard.Unlock()
			<-room
		})
		return err
	})
	group.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// judgeHistory judges a history as lockbench check does.
func judgeHistory(path string) judgement {
	src, err := history.Open(path)
	if err != nil {
		return judgement{exit: fmt.Sprintf("2 %q", err)}
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
	run := results.New([]results.Judged{j}, nil).Runs[0]
	exit := strconv.Itoa(run.Exit)
	if run.Partial {
		exit += " partial"
	}
	return judgement{exit, run.Cells.Cells}
}
