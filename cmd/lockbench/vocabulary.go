package main

import (
	"regexp"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/faults"
	"github.com/lockbench/lockbench/internal/matrix"
	"github.com/lockbench/lockbench/internal/thresholds"
	"github.com/lockbench/lockbench/workloads"
)

// A vocabulary is what is known of the values of a flag beyond its type: for scenario
// files, their schema, and completion. The zero value is nothing.
type vocabulary struct {
	// words are the values that there are, or what they begin with; nil for any.
	words func() []listing
	// examples are some of the values there are, for completion, where words is nil.
	examples func() []listing
	// globs: patterns of words do too.
	globs bool
	// joined: the value is a list, with commas.
	joined bool
	// pair is what stands between name and value, where a value has both; empty leaves
	// it to the flag's help.
	pair string
	// check says what is wrong with a value beyond its first word.
	check func(string) error
}

// vocabularies are by the name of the flag, which means the same in all commands.
var vocabularies = map[string]vocabulary{
	"design":     {words: listDesigns, globs: true, check: checkDesign},
	"workload":   {words: listWorkloads},
	"fault":      {words: listFaults, check: checkFault},
	"guard":      {words: listGuards},
	"key-choice": {words: func() []listing { return bare(workloads.KeyChoices()) }},
	"arrival":    {words: func() []listing { return bare(workloads.ArrivalModels()) }},
	"claims":     {examples: listClaims, check: checkClaims},
	"scenario":   {words: listScenarios},
	"kinds":      {words: func() []listing { return bare(faultKinds()) }},
	"strategy":   {words: func() []listing { return bare(strategies()) }},
	"drivers":    {words: func() []listing { return bare([]string{matrix.Live, matrix.Explore}) }},
	"stages":     {joined: true},
	"fail-if":    {pair: ": ", check: checkThreshold},
}

// outputKind finds the kinds of output in the help of --out.
var outputKind = regexp.MustCompile(`\b([a-z]+)=(?:FILE|DIR)`)

// wordsOf are the words of a flag, those of --out as its help has them: each command
// writes others.
func (v vocabulary) wordsOf(f *pflag.Flag) (all []listing) {
	switch {
	case f.Name == "out":
		for _, m := range outputKind.FindAllStringSubmatch(f.Usage, -1) {
			all = append(all, listing{Name: m[1]})
		}
		return all
	case v.words != nil:
		return v.words()
	}
	return nil
}

func (v vocabulary) names(f *pflag.Flag) (names []string) {
	for _, w := range v.wordsOf(f) {
		names = append(names, w.Name)
	}
	return names
}

func bare(names []string) (all []listing) {
	for _, name := range names {
		all = append(all, listing{Name: name})
	}
	return all
}

func listGuards() []listing {
	summaries := map[lockbench.Guard]string{
		lockbench.NoGuard:      "the store does what it is told",
		lockbench.FenceGuard:   "it refuses fences lower than it has seen",
		lockbench.CompareGuard: "it refuses writes made on a version that is not its last",
	}
	var all []listing
	for _, g := range lockbench.Guards() {
		all = append(all, listing{Name: string(g), Summary: summaries[g]})
	}
	return all
}

func checkDesign(pattern string) error {
	_, err := impls.Match(pattern)
	return err
}

func checkFault(text string) error {
	_, err := faults.Parse(text)
	return err
}

func checkThreshold(text string) error {
	_, err := parseThreshold(text, thresholds.Live)
	return err
}
