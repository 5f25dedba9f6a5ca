package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/results"
)

// documented are designs of the documents, written as the commands that they send.
var documented = map[string][]string{
	"setnx-getset/naive":   {"--take", "SETNX {key} {token}; EXPIRE {key} {ttl_s}", "--free", "DEL {key}"},
	"lua-token/expire":     {"--take", "EVAL @lua-token/acquire.lua 1 {key} {token} {ttl_s}", "--free", "DEL {key}"},
	"lua-token/strategy":   {"--take", "SET {key} {token} NX PX {ttl_ms}", "--free", "EVAL @lua-token/release.lua 1 {key} {token}", "--extend", "EVAL @lua-token/refresh.lua 1 {key} {token} {ttl_ms}"},
	"hash-reentrant/plain": {"--take", "EVAL @hash-reentrant/lock.lua 1 {key} {token} {ttl_ms} => nil", "--free", "EVAL @hash-reentrant/unlock.lua 1 {key} {token} 1000 => 1"},
}

// TestDocumentedDesignsAsCommands checks that an exploration of the commands of a documented design
// breaks the same cells as one of the design. It compares the guarantees that rest on the commands
// alone; the others rest on what the code around them does with an error.
func TestDocumentedDesignsAsCommands(t *testing.T) {
	longtest.Only(t) // explores eight locks
	t.Parallel()
	for name, texts := range documented {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var flags []string
			for _, text := range texts {
				flags = append(flags, strings.ReplaceAll(text, "@", "@../../impls/"))
			}
			design, commands := brokenBySearch(t, name), brokenBySearch(t, flags...)
			if diff := cmp.Diff(commands, design); diff != "" || len(design) < 3 {
				t.Errorf("broken (-as commands +as a design, of which there are %d):\n%s", len(design), diff)
			}
		})
	}
}

// brokenBySearch returns the cells of exclusion, effects, lease and recovery that an exploration breaks
// under one condition that is no fault of a single call.
func brokenBySearch(t *testing.T, subject ...string) (cells []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "result.json")
	var out bytes.Buffer
	if exit := execute(t.Context(), append([]string{"explore", "--quiet", "--schedules", "3000", "--seed", "1", "--out", "json=" + file}, subject...), &out, &out); exit == exitUsage {
		t.Fatalf("explore %v: %s", subject, out.String())
	}
	r, err := readReport(file, results.ReadAs[*results.Result])
	if err != nil {
		t.Fatal(err)
	}
	compared := []lockbench.Guarantee{lockbench.Exclusion, lockbench.Effects, lockbench.LeaseKept, lockbench.Recovery}
	for i := range r.Runs { // one for each scenario
		if why := r.Runs[i].Error; why != "" {
			t.Errorf("explore %v: %s", subject, why)
		}
		for _, cell := range r.Runs[i].Cells.Broken() {
			if cell.Under.Count() <= 1 && !cell.Under.Has(lockbench.LostReply) && !cell.Under.Has(lockbench.Cancel) && slices.Contains(compared, cell.Guarantee) {
				cells = append(cells, cell.String())
			}
		}
	}
	slices.Sort(cells)
	return slices.Compact(cells)
}
