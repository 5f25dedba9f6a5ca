package runner

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/workloads"
)

// restricted returns the address of a private server for a user who has all permissions, changed by
// these rules.
func restricted(t *testing.T, rules ...any) string {
	t.Helper()
	private := servertest.Start(t)
	admin := redis.NewClient(private.Options())
	defer admin.Close()
	if err := admin.Do(t.Context(), append([]any{"ACL", "SETUSER", "worker", "on", ">pw", "~*", "&*", "+@all"}, rules...)...).Err(); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("unix://worker:pw@%s", private.Options().Addr)
}

// refusedPlan returns a plan that runs designs on a server; designs selected by a pattern are
// optional.
func refusedPlan(t *testing.T, server string, patterns ...string) Plan {
	t.Helper()
	p := Plan{Workload: workloads.Must("oversell"), Options: workloads.Defaults(), History: t.TempDir(), Servers: []string{server}}
	found, err := impls.Match(patterns...)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range found {
		p.Subjects = append(p.Subjects, Subject{Design: d, Optional: true})
	}
	p.Options.Keys, p.Options.Duration, p.Options.Operations, p.Options.TTL, p.Options.Wait = 4, 0, 100, time.Minute, 0
	return p
}

// TestServerThatRefusesIsNoViolation checks that a server's refusal is reported in its own words,
// is no violation, and makes the run inconclusive, and that judging the saved history gives the
// same.
func TestServerThatRefusesIsNoViolation(t *testing.T) {
	for _, c := range []struct{ design, rule, op, words string }{
		{"lua-token/strategy", "-evalsha", "release", "NOPERM this user has no permissions to run the 'evalsha' command"},
		{"lua-token/expire", "-evalsha", "acquire", "NOPERM this user has no permissions to run the 'evalsha' command"},
		{"lua-token/token", "-setnx", "acquire", "The user executing the script can't run this command"},
		{"setnx-getset/expiry", "-setnx", "acquire", "NOPERM this user has no permissions to run the 'setnx' command"},
		{"setnx-getset/expiry", "-expire", "acquire", "NOPERM this user has no permissions to run the 'expire' command"},
		{"hash-reentrant/plain", "-evalsha", "acquire", "NOPERM this user has no permissions to run the 'evalsha' command"},
		{"watch-multi/poll", "-hget", "acquire", "NOPERM this user has no permissions to run the 'hget' command"},
	} {
		t.Run(c.design+c.rule, func(t *testing.T) {
			p := refusedPlan(t, restricted(t, c.rule), c.design)
			p.Subjects[0].Design.Commands = nil // skips the check before the run, as if the permission were lost during it
			r, err := Run(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			kept, err := Judge(r.Runs[0].History, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range []results.Judged{r.Runs[0], kept} {
				wantRefused(t, &j, c.op, c.words)
			}
		})
	}
}

// wantRefused fails t unless j is inconclusive, has no broken cell, and lists a refusal with these
// words as its first error.
func wantRefused(t *testing.T, j *results.Judged, op, words string) {
	t.Helper()
	report := results.New([]results.Judged{*j}, nil)
	all := report.Runs[0].Errors
	if report.Exit != results.Inconclusive || len(all) == 0 || all[0].Kind != "NOPERM" || all[0].Op != op || !all[0].Refusal || !strings.HasPrefix(all[0].First, words) {
		t.Errorf("exit %d, errors %+v, want %d and %s NOPERM: %s", report.Exit, all, results.Inconclusive, op, words)
	}
	for _, f := range j.Verdicts.Findings {
		if f.Verdict == checker.Broken && f.Cell.Under == 0 {
			t.Errorf("%s is broken: %s", f.Cell, f.Counterexample.Sentence)
		}
	}
}

// TestMissingPermissionIsFoundBeforeTheRun checks that a design without a permission that it needs
// is left out if others are left, and named in the error if none is. The same applies to the
// permissions for guarded records.
func TestMissingPermissionIsFoundBeforeTheRun(t *testing.T) {
	server := restricted(t, "-evalsha", "-eval")
	var said strings.Builder
	p := refusedPlan(t, server, "lua-token/strategy", "setnx-getset/naive")
	r, err := Run(t.Context(), p, Sink{Say: func(text string) { said.WriteString(text) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Runs) != 1 || r.Runs[0].Header.Design != "setnx-getset/naive" || !strings.Contains(said.String(), "left out: design lua-token/strategy: server unix://") {
		t.Errorf("%d runs; said %q", len(r.Runs), &said)
	}
	for _, c := range []struct{ server, design, want string }{
		{server, "lua-token/strategy", `design lua-token/strategy: server unix://`},
		{server, "lua-token/strategy", `user "worker" may not run EVALSHA, EVAL: NOPERM `},
		{server, "lua-token/strategy", `hint: ACL SETUSER worker +evalsha +eval`},
		{restricted(t, "-set"), "setnx-getset/naive", "the records that locks guard, beside design setnx-getset/naive: server unix://"},
	} {
		_, err := Run(t.Context(), refusedPlan(t, c.server, c.design))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q in it", c.design, err, c.want)
		}
	}
}
