package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var unexported = cmp.AllowUnexported(judgement{}, finding{}, mapping{}, pairing{})

// say makes the judgement of one history, h, from lines of a golden file.
func say(t *testing.T, lines ...string) judgements {
	t.Helper()
	js, err := parseGolden([]byte("h " + strings.Join(lines, "\nh ")))
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name     string
		old, new []string
		mapping  string
		want     []string
	}{
		{"same", []string{"exit 0", "overrun held - 3 0"}, []string{"exit 0", "overrun held - 3 0"}, "", nil},
		{"verdict and numbers", []string{`overrun held - 3 0`}, []string{`overrun broken claimed 4 2 "k" 0,3`}, "",
			[]string{`h overrun: verdict held -> broken, claim false -> true, violations 0 -> 2, against 0 -> 2, exposure 3 -> 4, counterexample none -> "k" by 0,3`}},
		{"counterexample", []string{`overrun broken - 1 1 "k" 1`}, []string{`overrun broken - 1 1 "j" 1`}, "",
			[]string{`h overrun: counterexample "k" by 1 -> "j" by 1`}},
		{"exit", []string{"exit 0", "overrun held - 3 0"}, []string{"exit 3 partial", "overrun held - 3 0"}, "",
			[]string{"h exit: 0 -> 3, partial false -> true"}},
		{"why it cannot be judged", []string{`exit 2 "damaged"`}, []string{"exit 3", "skew held - 3 0"}, "",
			[]string{"h exit: 2 -> 3, only NEW judges it; the other: damaged"}},
		{"renamed, no mapping", []string{"skew held - 3 0", "overrun held - 3 0"}, []string{"skew held - 3 0", "exclusion@outlived held - 3 0"}, "",
			[]string{"h overrun: only OLD says: held - 3 0 0", "h exclusion@outlived: only NEW says: held - 3 0 0"}},
		{"renamed", []string{"overrun held - 3 0"}, []string{"exclusion@outlived held - 3 0"}, "overrun exclusion@outlived", nil},
		{"renamed and different", []string{"overrun held - 3 0"}, []string{"exclusion@outlived held - 2 0"}, "overrun exclusion@outlived",
			[]string{"h overrun=>exclusion@outlived: exposure 3 -> 2"}},
		{"gone and new", []string{"skew held - 3 0", "cancel held - 3 0"}, []string{"skew held - 3 0", "answers held - 3 0"}, "cancel - \n - answers", nil},
		{"merged", []string{"extend held claimed 3 0", "early broken - 2 1"}, []string{"lease broken claimed 5 1 0"}, "extend lease\nearly lease", nil},
		{"split", []string{"exclusion broken claimed 5 1"}, []string{"exclusion held claimed 3 0 0", "exclusion@pause broken - 2 1 1"},
			"exclusion exclusion\nexclusion exclusion@pause", nil},
		{"by conditions", []string{"exclusion held - 3 0", "overrun held - 2 0", "skew broken - 3 2"},
			[]string{"exclusion held - 1 0 0", "exclusion@pause held - 2 0 0", "exclusion@outlived+skew held - 2 0 0", "exclusion@lost-reply+skew broken - 3 2 0"},
			"exclusion exclusion@*!outlived!skew\noverrun exclusion@*+outlived\nskew exclusion@*!outlived+skew", nil},
		{"by conditions and different", []string{"skew broken - 3 2"}, []string{"exclusion@skew broken - 2 1 0", "exclusion@skew+crash held - 1 0 0", "lease held - 1 0 0"},
			"skew exclusion@*+skew\n- lease\n* * violations", []string{"h skew=>exclusion@*+skew: violations 2 -> 1"}},
		{"against", []string{"skew broken claimed 3 2"}, []string{"skew broken claimed 3 2 1"}, "", []string{"h skew: against 2 -> 1"}},
		{"some fields", []string{"skew held - 3 0"}, []string{"skew held claimed 2 0"}, "skew skew verdict,exposure", []string{"h skew: exposure 3 -> 2"}},
		{"fields of all", []string{"skew held - 3 0"}, []string{"skew held claimed 2 0"}, "* * verdict", nil},
		{"verdicts", []string{"skew hazard - 3 0"}, []string{"skew broken - 3 0"}, "verdict hazard broken", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := parseMapping(strings.NewReader(c.mapping))
			if err != nil {
				t.Fatal(err)
			}
			got, err := compare(say(t, c.old...), say(t, c.new...), m)
			if err != nil && c.name != "why it cannot be judged" {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got.differences, c.want); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
}

// TestCompareRowsThatOneSideLacks compares histories that lack a row on one side: a row
// without occasions is no difference, a violation is one.
func TestCompareRowsThatOneSideLacks(t *testing.T) {
	older := judgements{"h": say(t, "skew broken - 3 2")["h"], "i": say(t, "skew untested - 0 0")["h"], "j": say(t, "skew held - 1 0")["h"]}
	newer := judgements{"h": say(t, "lease held - 1 0 0")["h"], "i": say(t, "lease held - 1 0 0")["h"], "j": say(t, "lease@skew held - 1 0 0")["h"]}
	m, err := parseMapping(strings.NewReader("skew lease@*+skew\n- lease"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := compare(older, newer, m)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"h skew=>lease@*+skew: verdict broken -> untested, violations 2 -> 0, exposure 3 -> 0"}
	if diff := cmp.Diff(got.differences, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestCompareHistoriesOfOneSide(t *testing.T) {
	older := say(t, "exit 0", "skew held - 1 0")
	newer := judgements{"h": older["h"], "i": older["h"]}
	got, err := compare(older, newer, mapping{fields: allFields})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got.differences, []string{"i history: only NEW has it"}); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestCompareNothingFails(t *testing.T) {
	for name, newer := range map[string]judgements{"nobody judged it": say(t, "exit 2"), "another corpus": {}} {
		if _, err := compare(say(t, "exit 2"), newer, mapping{fields: allFields}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestParseMapping(t *testing.T) {
	got, err := parseMapping(strings.NewReader(`
# comment
overrun exclusion@outlived   # why
fairness -
- answers
extend lease verdict,violations
no-early-expiry lease
verdict hazard broken
* * verdict,claim
`))
	if err != nil {
		t.Fatal(err)
	}
	want := mapping{
		pairings: []pairing{
			{old: []string{"overrun"}, new: []string{"exclusion@outlived"}},
			{old: []string{"extend", "no-early-expiry"}, new: []string{"lease"}, fields: []string{"verdict", "violations"}},
		},
		gone: []string{"fairness"}, added: []string{"answers"},
		verdicts: map[string]string{"hazard": "broken"}, fields: []string{"verdict", "claim"},
	}
	if diff := cmp.Diff(got, want, unexported); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestParseMappingComplains(t *testing.T) {
	for text, want := range map[string]string{
		"overrun":             `line 1 "overrun": 1 words; hint: OLD NEW`,
		"\na b c d":           `line 2 "a b c d": 4 words`,
		"a b colour":          `"colour" is nothing to compare; hint: some of verdict,`,
		"* b":                 "* and b are no pair",
		"- -":                 "- and - are no pair",
		"* *":                 "it says nothing",
		"overrun - verdict x": "4 words",
		"a b@*skew":           `"b@*skew" has "skew" after *; hint: +skew or !skew`,
		"a b@*+skews":         `unknown condition "skews"`,
		"a b@*!":              `names no condition after !; hint: !skew`,
	} {
		if _, err := parseMapping(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestMappingNamesWhatThereIs(t *testing.T) {
	for text, want := range map[string]string{
		"overun exclusion":   `"overun", of which OLD says nothing; hint: it has overrun`,
		"overrun excl":       `"excl", of which NEW says nothing; hint: it has exclusion`,
		"- excl":             `"excl", of which NEW`,
		"gone -":             `"gone", of which OLD`,
		"- exclusion@*+skew": `"exclusion@*+skew", of which NEW`,
		"overrun exclusion@*\n- exclusion@*!skew": `two lines of the mapping match "exclusion" of NEW`,
	} {
		m, err := parseMapping(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.pairs([]string{"overrun"}, []string{"exclusion"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}
