package checker

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

var caseFolder = flag.String("cases", "", "write the cases of testdata/cases.txt as JSON Lines into this folder")

// orderless tests the order of operations with equal stamps, which a file does not keep.
const orderless = "reentrancy/same-stamps-in-a-row"

// TestCasesAsFiles writes the cases to files, for the corpus: TestCorpus compares the findings for
// guarantees that a case does not name.
func TestCasesAsFiles(t *testing.T) {
	if *caseFolder == "" {
		t.Skip("no folder given; hint: -cases DIR")
	}
	archive, err := txtar.ParseFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range archive.Files {
		path, c := filepath.Join(*caseFolder, filepath.FromSlash(file.Name)+".jsonl"), parseText(t, string(file.Data))
		c.header.Schema, c.header.Design = history.Schema, file.Name
		if err := writeCase(path, c.source()); err != nil {
			t.Fatalf("%s: %v", file.Name, err)
		}
		if file.Name != orderless {
			wantOfFile(t, path, c.want)
		}
	}
}

// wantOfFile fails if a file is judged differently from the text that it was written from.
func wantOfFile(t *testing.T, path string, wanted map[lockbench.Cell]string) {
	t.Helper()
	src, err := history.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Check(src)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for g, want := range wanted {
		if got := r.Find(g).Verdict.String(); got != want {
			t.Errorf("%s: %s: got %s, want %s", path, g, got, want)
		}
	}
}

func writeCase(path string, m memory) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return history.WriteJSONL(f, m)
}

var simulatedFolder = flag.String("simulated", "", "write simulated histories as JSON Lines into this folder")

// TestSimulatedAsFiles writes simulated histories of a lock without a fault and of each
// mutant, and random ones without any lock, to files, for the corpus: they mix faults, ties, torn
// records and ways of locking as no live run does. Their claims depend on their seed.
func TestSimulatedAsFiles(t *testing.T) {
	if *simulatedFolder == "" {
		t.Skip("no folder given; hint: -simulated DIR")
	}
	const each, ofSound = 8, 100
	write := func(kind string, seed uint64, m memory) {
		m.header.Schema, m.header.Design, m.header.Claims = history.Schema, kind, drawClaims(seed)
		path := filepath.Join(*simulatedFolder, kind, fmt.Sprintf("%d.jsonl", seed))
		if err := writeCase(path, m); err != nil {
			t.Fatalf("%s %d: %v", kind, seed, err)
		}
	}
	for seed := range uint64(ofSound) {
		write("sound", seed, simulate(seed, sound).memory)
		m, _ := generate(rand.New(rand.NewPCG(seed, 1)))
		write("random", seed, m)
	}
	for _, b := range expectations {
		for seed, written := uint64(0), 0; written < each; seed++ {
			if s := simulate(seed, b.fault); s.faulted {
				write(strings.NewReplacer(" ", "-", "'", "").Replace(string(b.fault)), seed, s.memory)
				written++
			}
		}
	}
}

// drawClaims draws some two thirds of the guarantees.
func drawClaims(seed uint64) (claims lockbench.Claims) {
	r := rand.New(rand.NewPCG(seed, 4))
	for _, g := range names {
		if r.IntN(3) > 0 {
			claims.Keeps = append(claims.Keeps, g)
		}
	}
	for _, i := range lockbench.AllConditions() {
		if r.IntN(3) > 0 {
			claims.Survives |= i.Condition
		}
	}
	return claims
}
