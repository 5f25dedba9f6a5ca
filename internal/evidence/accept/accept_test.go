package accept

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/results"
)

// known knows the designs of the catalogue.
func known(design string) error {
	_, err := impls.Match(design)
	return err
}

func TestRead(t *testing.T) {
	got, err := Read("a.yaml", []byte(`# what we know of
- design: lua-token/*
  cell: exclusion@crash+outlived
  reason: >
    every lease ends,
    see ticket 7
  until: 2027-01-31

- {design: redsync/quorum, cell: recovery, reason: "#12", until: "2026-12-01"}
`), known)
	want := []results.Acceptance{
		{Design: "lua-token/*", Cell: lockbench.Exclusion.At(lockbench.Crash | lockbench.Outlived), Reason: "every lease ends, see ticket 7", Until: "2027-01-31", Place: "a.yaml:2"},
		{Design: "redsync/quorum", Cell: lockbench.Recovery.At(0), Reason: "#12", Until: "2026-12-01", Place: "a.yaml:9"},
	}
	if diff := cmp.Diff(got, want); diff != "" || err != nil {
		t.Errorf("error %v (-got +want):\n%s", err, diff)
	}
	for _, empty := range []string{"", "# nothing\n", "[]\n"} {
		if got, err := Read("a.yaml", []byte(empty), known); err != nil || len(got) > 0 {
			t.Errorf("%q: got %v, %v; want nothing", empty, got, err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	const rest = "  reason: known\n  until: 2027-01-31\n"
	for _, c := range []struct{ name, text, want string }{
		{"an unknown design", "- design: lua-token/tokn\n  cell: exclusion\n" + rest, `a.yaml:1:11: unknown design "lua-token/tokn"; hint: did you mean lua-token/token`},
		{"an unknown guarantee", "- design: lua-token/*\n  cell: exclsion\n" + rest, `a.yaml:2:9: unknown guarantee "exclsion"; hint: did you mean exclusion? known are `},
		{"an unknown condition", "- design: lua-token/*\n  cell: exclusion@crsh\n" + rest, `a.yaml:2:9: "exclusion@crsh": unknown condition "crsh"; hint: did you mean crash? known are `},
		{"no reason", "- design: lua-token/*\n  cell: exclusion\n  until: 2027-01-31\n", `a.yaml:1:3: it has no reason; hint: the reason for accepting it, for readers of the report`},
		{"an empty reason", "- design: lua-token/*\n  cell: exclusion\n  reason: ' '\n  until: 2027-01-31\n", `a.yaml:3:11: reason "": it is empty; hint: the reason for accepting it, for readers of the report`},
		{"no day", "- design: lua-token/*\n  cell: exclusion\n  reason: known\n", `a.yaml:1:3: it has no until; hint: the last day on which it is accepted, such as until: 2027-01-31`},
		{"no such day", "- design: lua-token/*\n  cell: exclusion\n  reason: known\n  until: 2027-02-30\n", `a.yaml:4:10: until "2027-02-30": it is not a date; hint: the last day on which it is accepted, such as 2027-01-31`},
		{"a time", "- design: lua-token/*\n  cell: exclusion\n  reason: known\n  until: 2027-01-31T10:00:00Z\n", `a.yaml:4:10: until "2027-01-31T10:00:00Z": it is not a date; hint: the last day on which it is accepted, such as 2027-01-31`},
		{"an unknown field", "- design: lua-token/*\n  cell: exclusion\n  untill: 2027-01-31\n" + rest, `a.yaml:3:3: unknown key "untill"; hint: did you mean until?`},
		{"another field", "- design: lua-token/*\n  cell: exclusion\n  owner: me\n" + rest, `a.yaml:3:3: unknown key "owner"; hint: keys are design, cell, reason, until`},
		{"no list", "design: lua-token/*\n", `a.yaml:1:1: it is not a list; hint: begin each item with a dash: - design: ...`},
		{"a text", "- lua-token/*\n", `a.yaml:1:3: lua-token/*: an item of the list is a mapping; hint: keys are design, cell, reason, until`},
		{"twice", "- design: lua-token/*\n  cell: exclusion\n" + rest + "- design: lua-token/*\n  cell: exclusion\n" + rest, `a.yaml:5:3: lua-token/* exclusion: line 1 has it, too; hint: leave one of them out`},
		{"several problems", "- design: lua-token/*\n  cell: exclusion\n  until: soon\n", `2 problems in a.yaml
a.yaml:1:3: it has no reason
    hint: the reason for accepting it, for readers of the report
a.yaml:3:10: until "soon": it is not a date
    hint: the last day on which it is accepted, such as 2027-01-31`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Read("a.yaml", []byte(c.text), known); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}
