package main

import (
	"regexp"
	"slices"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/cli/catalog"
	"github.com/lockbench/lockbench/internal/cli/matrix"
	"github.com/lockbench/lockbench/internal/evidence/choosing"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
	"github.com/lockbench/lockbench/workloads"
)

// A vocabulary describes the values of a flag beyond their type, for run files, their schema, and
// completion. The zero value describes nothing.
type vocabulary struct {
	// words are the valid values, or their valid beginnings; nil for any.
	words func() []catalog.Entry
	// examples are some valid values, for completion, if words is nil.
	examples func() []catalog.Entry
	// named: only the words that the help of the flag names are valid.
	named bool
	// globs: patterns of words are valid, too.
	globs bool
	// joined: the value is a list, separated by commas.
	joined bool
	// pair is the separator of name and value, if a value has both; empty leaves it to
	// the flag's help.
	pair string
	// check returns an error if the rest of a value, after its first word, is wrong.
	check func(string) error
}

// vocabularies are keyed by the name of the flag, which means the same in all commands.
var vocabularies = map[string]vocabulary{
	"design":     {words: catalog.Designs, globs: true, check: checkDesign},
	"service":    {words: func() []catalog.Entry { return catalog.Bare(append(choosing.Services(), "all")) }, named: true},
	"workload":   {words: catalog.Workloads},
	"fault":      {words: catalog.Faults, check: checkFault},
	"guard":      {words: catalog.Guards},
	"key-choice": {words: func() []catalog.Entry { return catalog.Bare(workloads.KeyChoices()) }},
	"arrival":    {words: func() []catalog.Entry { return catalog.Bare(workloads.ArrivalModels()) }},
	"claims":     {examples: catalog.Claims, check: checkClaims},
	"scenario":   {words: catalog.Scenarios},
	"kinds":      {words: func() []catalog.Entry { return catalog.Bare(fault.Names(fault.Explored())) }},
	"strategy":   {words: func() []catalog.Entry { return catalog.Bare(strategies()) }},
	"drivers":    {words: func() []catalog.Entry { return catalog.Bare([]string{matrix.Live, matrix.Explore}) }},
	"stages":     {joined: true},
	"fail-if":    {pair: ": ", check: checkThreshold},
}

// outputKind finds the kinds of output in the help of --out.
var outputKind = regexp.MustCompile(`\b([a-z]+)=(?:FILE|DIR)`)

// wordsOf returns the words of a flag. The words of --out come from its help, since each command
// writes other kinds.
func (v vocabulary) wordsOf(f *pflag.Flag) (all []catalog.Entry) {
	switch {
	case f.Name == "out":
		for _, m := range outputKind.FindAllStringSubmatch(f.Usage, -1) {
			all = append(all, catalog.Entry{Name: m[1]})
		}
		return all
	case v.named:
		return slices.DeleteFunc(v.words(), func(e catalog.Entry) bool { return !regexp.MustCompile(`\b` + e.Name + `\b`).MatchString(f.Usage) })
	case v.words != nil:
		return v.words()
	}
	return nil
}

func checkDesign(pattern string) error {
	_, err := impls.MatchRun(pattern)
	return err
}

func checkFault(text string) error {
	_, err := fault.Parse(text)
	return err
}

func checkThreshold(text string) error {
	_, err := thresholds.ParseThresholdOf(text, thresholds.Live)
	return err
}
