package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// actVariable makes this program a lockbench: its value is the result for any file.
const actVariable = "SAME_TEST_SAYS"

func TestMain(m *testing.M) {
	if says := os.Getenv(actVariable); says != "" {
		os.Exit(act(says, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// act judges like a lockbench with JSON output: files by the name of one verdict, or some as
// broken.
func act(says string, args []string) int {
	if says == "fails" {
		fmt.Fprintln(os.Stderr, "lockbench: no such verb")
		return 2
	}
	var runs []string
	exit := 0
	for _, file := range args {
		if !strings.Contains(file, ".") || strings.HasPrefix(file, "-") {
			continue
		}
		if says == "spoiled" && strings.Contains(file, "torn") {
			fmt.Fprintln(os.Stderr, "lockbench: torn")
			return 2
		}
		verdict, code := says, 0
		if says == "some" {
			verdict = map[bool]string{true: "broken", false: "held"}[strings.Contains(file, "one")]
		}
		if verdict == "broken" {
			code, exit = 1, 1
		}
		runs = append(runs, fmt.Sprintf(`{"history": %q, "exit": %d, "cells": {"exclusion@crash+skew": {"verdict": %q, "claimed": true, "exposure": 4, "violations": 1, "against": 1,
			"counterexample": {"key": "k", "ops": [{"client": 3}, {"client": 0}, {"client": 3}]}}}}`, file, code, verdict))
	}
	fmt.Printf(`{"runs": [%s]}`, strings.Join(runs, ","))
	return exit
}

// acting writes a program that gives this result for any file, and returns its path.
func acting(t *testing.T, says string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lockbench-"+says)
	script := fmt.Sprintf("#!/bin/sh\n%s=%s exec %q \"$@\"\n", actVariable, says, os.Args[0])
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// folder makes one with empty files.
func folder(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRun(t *testing.T) {
	held, broken, fails := acting(t, "held"), acting(t, "broken"), acting(t, "fails")
	full, empty := folder(t, "a/one.lbh", "two.jsonl", "three.replay"), t.TempDir()
	all := filepath.Join(t.TempDir(), "none.map")
	if err := os.WriteFile(all, []byte("exclusion@crash+skew -\n- exclusion@*+skew\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join(t.TempDir(), "golden.txt")
	for _, c := range []struct {
		name string
		args []string
		exit int
		want string // part of the output
	}{
		{"a build and itself", []string{"-corpus", full, held, held}, 0, "3 findings of 3 histories and replays were compared: nothing differs"},
		{"another build", []string{"-corpus", full, held, broken}, 1, "a/one.lbh exclusion@crash+skew: verdict held -> broken"},
		{"its exit codes", []string{"-corpus", full, held, broken}, 1, "two.jsonl exit: 0 -> 1"},
		{"how many differ", []string{"-corpus", full, held, broken}, 1, "6 differ (exclusion@crash+skew 3, exit 3)"},
		{"a file spoils the rest", []string{"-corpus", folder(t, "torn.lbh", "whole.lbh"), acting(t, "spoiled"), held}, 1, "torn.lbh exit: 2 -> 0, only NEW judges it"},
		{"write, both verdicts", []string{"-corpus", full, "-write", golden, acting(t, "some")}, 0, "exclusion@crash"},
		{"write", []string{"-corpus", full, "-write", golden, held}, 1, "exclusion is never broken"},
		{"golden against a build", []string{"-corpus", full, golden, broken}, 1, "verdict held -> broken"},
		{"table", []string{"-table", golden}, 1, "exclusion is never broken"},
		{"nothing compared", []string{"-corpus", full, "-mapping", all, held, held}, 2, "no finding was compared, of 3 histories"},
		{"no binary", []string{"-corpus", full, filepath.Join(empty, "gone"), held}, 2, "OLD: stat"},
		{"no program", []string{"-corpus", full, held, all}, 2, "is no program; hint: go build"},
		{"fails on all", []string{"-corpus", full, held, fails}, 2, "judged none of 3 histories"},
		{"empty corpus", []string{"-corpus", empty, held, held}, 2, "holds no histories; hint: bench/corpus.sh"},
		{"empty corpus beside replays", []string{"-corpus", empty, "-replays", full, held, held}, 2, "holds no histories"},
		{"no corpus", []string{"-corpus", filepath.Join(empty, "gone"), held, held}, 2, "read the corpus"},
		{"no mapping", []string{"-corpus", full, "-mapping", "gone", held, held}, 2, "bench/same.map is an example"},
		{"one argument", []string{held}, 2, "1 arguments; hint: same OLD NEW"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			exit := exitOf(&out, run(t.Context(), &out, c.args))
			if exit != c.exit || !strings.Contains(out.String(), c.want) {
				t.Errorf("got exit %d and %q, want exit %d and %q", exit, out.String(), c.exit, c.want)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	b := binary{acting(t, "broken")}
	got := b.judge(t.Context(), "x.lbh")
	want := judgement{exit: 1, findings: map[string]finding{
		"exclusion@crash+skew": {verdict: "broken", claimed: true, exposure: 4, violations: 1, against: 1, key: "k", clients: "0,3"},
	}}
	if diff := cmp.Diff(got, want, unexported); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	if _, whole := b.judgeTogether(t.Context(), []string{"x.lbh", "y.lbh"}); !whole {
		t.Error("two in one process are not judged whole")
	}
	if _, whole := (binary{acting(t, "spoiled")}).judgeTogether(t.Context(), []string{"torn.lbh", "y.lbh"}); whole {
		t.Error("a failure passes for a whole result")
	}
}

func TestJudgeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := (binary{acting(t, "held")}).judge(ctx, "x.lbh"); got.exit != -1 || !strings.Contains(got.said, context.Canceled.Error()) {
		t.Errorf("got %+v, want that it was cancelled", got)
	}
}

func TestWithoutBreaks(t *testing.T) {
	got := string(withoutBreaks([]byte("design x\nbreaks exclusion broken\n\nc1 run acquire: SET breaks \n")))
	if want := "design x\n\nc1 run acquire: SET breaks \n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestExitOf(t *testing.T) {
	for want, err := range []error{nil, errDifferent, errors.New("no corpus")} {
		if got := exitOf(&bytes.Buffer{}, err); got != want {
			t.Errorf("%v: got %d, want %d", err, got, want)
		}
	}
}
