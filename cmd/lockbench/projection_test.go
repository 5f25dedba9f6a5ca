package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/testkit/pagetest"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/results"
)

// projected is the directory of the golden files of TestProjection.
const projected = "testdata/projection"

// savedResults are the results of runs that the repository keeps.
var savedResults = []string{
	"../../reports/internal/html/testdata/run.json", "../../reports/internal/html/testdata/explored.json", "../../docs/pictures/result.json",
}

// TestProjection asks the commands about every saved matrix, result and history of the repository,
// and compares the answers with golden files, which -update writes. It uses only files and texts,
// and no type of the program.
func TestProjection(t *testing.T) {
	if testing.Short() {
		t.Skip("runs hundreds of commands")
	}
	t.Parallel()
	for name, project := range map[string]func(*projection){
		"designs": designs, "cells": cells, "matrix": savedMatrices, "results": saved, "histories": histories, "explored": explored, "compare": compared, "choose": chosen,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &projection{T: t, dir: t.TempDir()}
			project(p)
			golden := filepath.Join(projected, name+".txt")
			if *update {
				if err := os.WriteFile(golden, p.text.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Split(p.text.String(), "\n")
			if diff := cmp.Diff(got, strings.Split(strings.ReplaceAll(string(want), "\r\n", "\n"), "\n")); diff != "" {
				t.Errorf("%s (-got +want); -update writes it:\n%.20000s", golden, diff)
			}
		})
	}
}

// A projection writes one golden file.
type projection struct {
	*testing.T
	dir  string
	text bytes.Buffer
}

func (p *projection) line(format string, args ...any) { fmt.Fprintf(&p.text, format+"\n", args...) }

// run runs a command, and returns its output without the temporary directory.
func (p *projection) run(args ...string) (out string, exit int) {
	p.Helper()
	var stdout, stderr bytes.Buffer
	exit = execute(p.Context(), args, &stdout, &stderr)
	return p.plain(stdout.String() + stderr.String()), exit
}

func (p *projection) plain(text string) string {
	return strings.NewReplacer(p.dir+string(filepath.Separator), "", "../../", "").Replace(text)
}

// shown writes a command with its whole output, and its exit code.
func (p *projection) shown(args ...string) {
	out, exit := p.run(args...)
	p.line("$ lockbench %s\n%s[exit %d]\n", p.plain(strings.Join(args, " ")), out, exit)
}

// ended writes a command with the end of its output, from a pattern on, and its exit code.
func (p *projection) ended(from string, args ...string) {
	p.Helper()
	out, exit := p.run(args...)
	at := regexp.MustCompile(from).FindStringIndex(out)
	if at == nil {
		p.Fatalf("%v: no %q in what it prints (exit %d):\n%s", args, from, exit, out)
	}
	p.line("$ lockbench %s\n%s[exit %d]\n", p.plain(strings.Join(args, " ")), out[at[0]:], exit)
}

// file writes a file of the temporary directory, and returns its path.
func (p *projection) file(name string, text []byte) string {
	p.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		p.Fatal(err)
	}
	return path
}

func (p *projection) read(path string) []byte {
	p.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		p.Fatal(err)
	}
	return text
}

// report renders a saved report of any kind.
func (p *projection) report(path string, form reports.Form) string {
	p.Helper()
	r, err := results.Read(bytes.NewReader(p.read(path)))
	var out bytes.Buffer
	if err == nil {
		err = reports.Write(&out, form, r, reports.Options{})
	}
	if err != nil {
		p.Fatalf("%s: %v", path, err)
	}
	return p.plain(out.String())
}

// digest returns a checksum of a text that is too long to keep.
func digest(text string) string { return fmt.Sprintf("%.4x", sha256.Sum256([]byte(text))) }

// A matrixFile is a saved matrix as text.
type matrixFile struct {
	path string
	text map[string]any
	rows []matrixLine
}

// A matrixLine is the row of a design.
type matrixLine struct {
	design string
	cells  []string
	text   map[string]any
}

func (p *projection) matrixFile(path string) matrixFile {
	p.Helper()
	m := matrixFile{path: path}
	if err := json.Unmarshal(p.read(path), &m.text); err != nil {
		p.Fatal(err)
	}
	for _, row := range m.text["rows"].([]any) {
		l := matrixLine{text: row.(map[string]any)}
		l.design = l.text["design"].(string)
		l.text["version"] = impls.Version(l.design) // TestSavedMatrixIsOfThisCatalogue checks whether it is of this code
		l.cells = slices.Sorted(maps.Keys(l.text["cells"].(map[string]any)))
		m.rows = append(m.rows, l)
	}
	return m
}

// of writes the rows of some designs as a matrix of its own, with words changed.
func (m *matrixFile) of(p *projection, name string, words map[string]string, designs ...string) string {
	p.Helper()
	one := maps.Clone(m.text)
	var rows []any
	for _, l := range m.rows {
		if slices.Contains(designs, l.design) {
			rows = append(rows, l.text)
		}
	}
	one["rows"] = rows
	text, err := json.Marshal(one)
	if err != nil {
		p.Fatal(err)
	}
	return p.changed(p.file(name, text), words)
}

// designs writes the conclusion on each design, and its table.
func designs(p *projection) {
	m := p.matrixFile(savedMatrix)
	for _, l := range m.rows {
		out, exit := p.run("explain", l.design, "--from", m.of(p, "m.json", nil, l.design))
		table, _, _ := strings.Cut(out, "\nok: ")
		p.line("%s [exit %d]: %s\n", l.design, exit, strings.TrimSpace(table))
	}
}

// cells writes a line for each cell of the saved matrix.
func cells(p *projection) { p.cells(p.matrixFile(savedMatrix)) }

// cells writes a line for each cell: its explanation, and its test case.
func (p *projection) cells(m matrixFile) {
	p.Helper()
	inReport := p.cases(p.report(m.path, reports.JUnit))
	whole, err := results.ReadAs[*results.Matrix](bytes.NewReader(p.read(m.path)))
	if err != nil {
		p.Fatal(err)
	}
	for _, l := range m.rows {
		for _, name := range append(l.cells, "exclusion@outlived+pause+cancel+skew") {
			cell, err := lockbench.ParseCell(name)
			if err != nil {
				p.Fatal(err)
			}
			var out bytes.Buffer
			explained, err := reports.Explain(whole, results.CellName{Design: l.design, Cell: cell})
			if err == nil {
				err = reports.Write(&out, reports.Text, explained, reports.Options{})
			}
			if err != nil {
				p.Fatalf("%s %s: %v", l.design, name, err)
			}
			p.line("%s | %s", condensed(out.String()), inReport[l.design+" "+name])
		}
	}
}

var (
	// source is the origin of a claim, the same for all cells of a design.
	source = regexp.MustCompile(`(?m)^(  (?:not )?claimed) \(.*?\)`)
	head   = regexp.MustCompile(`(?m)^(\S.*|  \S.*)$`)
	// sentence is the first line of a part, unless it lists its extent.
	sentence = regexp.MustCompile(`^    [^:]+$`)
)

// condensed returns an explanation on one line, with its extent and its steps as a checksum.
func condensed(out string) string {
	var said, rest, idle []string
	lines := strings.Split(source.ReplaceAllString(out, "$1"), "\n")
	for i, line := range lines {
		switch text := strings.TrimSpace(line); {
		case strings.HasPrefix(text, "it promises: ") || strings.HasPrefix(text, "under: "):
			rest = append(rest, text)
		case i > 0 && strings.HasSuffix(line, "  not exercised"):
			idle = append(idle, strings.TrimSuffix(text, "  not exercised"))
		case head.MatchString(line), i > 0 && head.MatchString(lines[i-1]) && sentence.MatchString(line) && !strings.Contains(line, " grants in "):
			said = append(said, strings.Join(strings.Fields(text), " "))
		default:
			rest = append(rest, line)
		}
	}
	if len(idle) > 0 {
		said = append(said, "not exercised: "+strings.Join(idle, ", "))
	}
	return strings.Join(said, " | ") + " | " + digest(strings.Join(rest, "\n"))
}

// cases returns the cases of a JUnit report, by suite and name.
func (p *projection) cases(text string) map[string]string {
	p.Helper()
	var all struct {
		Suites []struct {
			Name  string `xml:"name,attr"`
			Cases []struct {
				Name       string `xml:"name,attr"`
				Assertions string `xml:"assertions,attr"`
				Status     string `xml:"status,attr"`
				Out        string `xml:"system-out"`
				Failures   []struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
				Skips []string `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(text), &all); err != nil {
		p.Fatal(err)
	}
	found := make(map[string]string)
	for _, s := range all.Suites {
		for _, c := range s.Cases {
			outcome := "passed"
			switch {
			case len(c.Failures) > 0:
				outcome = "failed " + c.Failures[0].Message
			case len(c.Skips) > 0:
				outcome = "skipped"
			}
			words, _, _ := strings.Cut(c.Out, "\nconclusion of the design")
			found[s.Name+" "+c.Name] = strings.Join(strings.Fields(fmt.Sprintf("%s %s, of %s: %s", outcome, c.Status, c.Assertions, strings.ReplaceAll(words, "\n", "; "))), " ")
		}
	}
	return found
}

// fewDesigns are the designs of a matrix that is compared.
var fewDesigns = []string{"setnx-getset/timestamp", "lua-token/token", "file/flock", "redislock/obtain", "rueidislock/polling"}

// counted makes each violation count against a design.
var counted = map[string]string{"violations": "against", "against": "violations"}

// savedMatrices writes the matrix, the outcome of its thresholds, and comparisons with others.
func savedMatrices(p *projection) {
	p.shown("report", savedMatrix)
	p.line("as a page %s\n", words(pagetest.Unpack(p, p.report(savedMatrix, reports.HTML))))
	m := p.matrixFile(savedMatrix)
	few := m.of(p, "few.json", nil, fewDesigns...)
	worse := m.of(p, "worse.json", map[string]string{"held": "broken"}, fewDesigns[1:]...)
	less := m.of(p, "less.json", map[string]string{"held": "untested"}, fewDesigns[:4]...)
	swapped := m.of(p, "swapped.json", map[string]string{fewDesigns[1]: fewDesigns[3], fewDesigns[3]: fewDesigns[1]}, fewDesigns...)
	resume := func(from string, args ...string) {
		p.ended(from, append([]string{"matrix", "--quiet", "--resume"}, args...)...)
	}
	verdict := `(?m)^No design is|^Thresholds|^Claims were`
	resume(verdict, few, "--fail-if", "exclusion.violations>0", "--fail-if", "lua-token/*: effects@outlived.violations>1000000", "--fail-if", "recovery@crash.against>0")
	resume(verdict, few, "--fail-if", "wake-up@failover.exposure<1")
	resume(verdict, m.of(p, "counted.json", counted, fewDesigns...))
	for _, pair := range [][2]string{{few, few}, {few, worse}, {worse, few}, {few, less}, {less, few}, {few, swapped}} {
		resume(`(?m)^compared with`, pair[0], "--expect", pair[1], "--fail-if-weaker")
	}
}

// words summarizes the words of a page.
func words(page string) string {
	for _, markup := range []string{`(?s)<style.*?</style>`, `(?s)<script.*?</script>`, `<[^>]*>`} {
		page = regexp.MustCompile(markup).ReplaceAllString(page, " ")
	}
	all := strings.Fields(page)
	return fmt.Sprintf("%d words, %s", len(all), digest(strings.Join(all, " ")))
}

// saved writes each saved result, unchanged and with each violation counted.
func saved(p *projection) {
	for _, path := range savedResults {
		p.shown("report", path, "--evidence", "all")
		p.line("as a page %s\n", words(p.report(path, reports.HTML)))
		for name, c := range sorted(p.cases(p.report(path, reports.JUnit))) {
			p.line("%s: %s", name, c)
		}
		p.line("")
		p.ended(`(?m)^Claims were|^No claim`, "report", p.changed(path, counted))
	}
	p.shown("report", savedResults[0], savedResults[2], "--evidence", "all")
	p.ended(".", "report", savedResults[0], savedResults[1])
}

// changed writes a file with some words replaced.
func (p *projection) changed(path string, words map[string]string) string {
	p.Helper()
	var pairs []string
	for old, new := range words {
		pairs = append(pairs, `"`+old+`"`, `"`+new+`"`)
	}
	return p.file("changed-"+filepath.Base(path), []byte(strings.NewReplacer(pairs...).Replace(string(p.read(path)))))
}

// sorted yields the pairs of m, in the order of their keys.
func sorted(m map[string]string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

// everyNth is the interval of the recorded histories that are asked about: all would take half a
// minute, and the verdicts of all are in golden.txt beside them.
const everyNth = 6

// histories writes a line for each recorded history: exit code, conclusion and verdict.
func histories(p *projection) {
	n := 0
	err := filepath.WalkDir("../../bench/corpus", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(path) == "golden.txt" {
			return err
		}
		if n++; n%everyNth != 1 {
			return nil
		}
		known := "off"
		if strings.Contains(filepath.ToSlash(path), "/works/") { // only designs of the released matrix
			known = "on"
		}
		out, exit := p.run("check", path, "--known", known, "--evidence", "all")
		all := strings.Split(strings.TrimSpace(out), "\n")
		p.line("%s | exit %d | %s | %s", filepath.ToSlash(p.plain(path)), exit, strings.Join(all[max(0, len(all)-2):], " | "), digest(out))
		return nil
	})
	if err != nil {
		p.Fatal(err)
	}
}

// explored writes explorations of few schedules, which are the same on every machine, and the
// matrix that they give.
func explored(p *projection) {
	file := filepath.Join(p.dir, "m.json")
	p.shown("matrix", "--quiet", "setnx-getset/timestamp", "hash-reentrant/watchdog", "--drivers", "explore", "--schedules", "150", "--out", "json="+file)
	p.cells(p.matrixFile(file))
	for _, claims := range []string{"nothing", "exclusion,@crash"} {
		file := filepath.Join(p.dir, "e.json")
		_, exit := p.run("explore", "--quiet", "setnx-getset/timestamp", "--schedules", "100", "--save", filepath.Join(p.dir, "replays"), "--claims", claims, "--known", "off", "--fail-if", "schedules<100", "--out", "json="+file)
		out, _ := p.run("report", file, "--evidence", "all")
		p.line("explored, claiming %s [exit %d]\n%s", claims, exit, took.ReplaceAllString(out, "schedules of an unknown number"))
	}
}

// took matches the duration of an exploration.
var took = regexp.MustCompile(`schedules of an unknown number in \S+`)

// compared writes comparisons of saved results, and the thresholds of some histories.
func compared(p *projection) {
	for _, path := range []string{savedResults[0], savedResults[2]} {
		p.shown("compare", path, path)
		broken := p.changed(path, map[string]string{"held": "broken"})
		p.shown("compare", path, broken)
		p.shown("compare", broken, path, "--fail-if-weaker")
		p.shown("compare", path, p.changed(path, map[string]string{"lua-token/strategy": "setnx-getset/naive", "setnx-getset/naive": "lua-token/strategy"}), "--force")
	}
	p.shown("compare", savedResults[0], savedResults[2], "--force", "--fail-if-slower", "5%")
	p.shown("compare", savedResults[0], savedResults[1])

	files, err := filepath.Glob("../../bench/corpus/synthetic/*-unknown-0.lbh")
	if err != nil || len(files) < 6 {
		p.Fatalf("%d synthetic histories without unknown outcomes, error %v; want 6 at least", len(files), err)
	}
	var side, broken []string
	for i, file := range files {
		result := filepath.Join(p.dir, fmt.Sprintf("%d.json", i+1))
		p.run("check", file, "--claims", "-exclusion", "--out", "json="+result)
		side = append(side, result)
		broken = append(broken, p.changed(result, map[string]string{"held": "broken"}))
	}
	comparison := filepath.Join(p.dir, "comparison.json")
	compare := append([]string{"compare", "--fail-if-slower", "acquire.p50=1%", "--out", "json=" + comparison}, append(side, "--")...)
	p.shown(append(compare, side...)...)
	p.ended(`(?m)^[A-Z].*exit`, "report", comparison)
	p.shown(append(compare, broken...)...)
	p.shown(append(append(compare, side[0], side[1], side[2]), broken[3:]...)...)
	p.ended(`(?m)^[A-Z].*exit`, append([]string{"report"}, side...)...)
	for _, threshold := range []string{"violations>0", "against>0", "exclusion.violations>2", "exclusion.exposure<100000", "recovery.violations>0", "acquire.p99>1ns", "acquire.p99>1h", "extend.p50>1ms", "grants_per_s<1", "redsync/*: violations>0"} {
		for _, claims := range []string{"exclusion", "nothing"} {
			p.ended(`(?m)^[A-Z].*exit`, "check", files[0], files[1], "--claims", claims, "--fail-if", threshold)
		}
	}
}

// chosen writes the answers of choose, by harm, service and conditions.
func chosen(p *projection) {
	for _, harm := range []string{"waste", "damage"} {
		for _, service := range []string{"redis", "replicas", "cluster", "quorum", "files"} {
			for _, conditions := range []string{"none", "all", "outlived,pause,crash,lost-reply,cancel,script-flush"} {
				p.shown("choose", "--if-two-hold", harm, "--service", service, "--conditions", conditions, "--work", "50ms", "--waiters", "8")
			}
		}
	}
	p.shown("choose", "--if-two-hold", "damage", "--service", "redis", "--conditions", "none", "--work", "40s", "--waiters", "500")
}
