package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var sample = judgements{
	"a/one.lbh": {exit: 1, findings: map[string]finding{
		"exclusion":            {verdict: "held", claimed: true, exposure: 4},
		"exclusion@skew":       {verdict: "broken", claimed: true, exposure: 4, violations: 2, against: 1, key: "a key", clients: "0,3"},
		"lease":                {verdict: "n/a"},
		"exclusion@pause+skew": {verdict: "held", exposure: 2},
	}},
	"cut.lbh":  {exit: 3, partial: true, findings: map[string]finding{"lease@skew": {verdict: "untested", key: "k"}}},
	"none.lbh": {exit: 2, findings: map[string]finding{}, said: "the header is missing"},
}

const sampleText = goldenMagic + `a/one.lbh exit 1
a/one.lbh exclusion held claimed 4 0 0
a/one.lbh exclusion@pause+skew held - 2 0 0
a/one.lbh exclusion@skew broken claimed 4 2 1 "a key" 0,3
a/one.lbh lease n/a - 0 0 0
cut.lbh exit 3 partial
cut.lbh lease@skew untested - 0 0 0 "k"
none.lbh exit 2 "the header is missing"
`

func TestGolden(t *testing.T) {
	if diff := cmp.Diff(string(goldenText(sample)), sampleText); diff != "" {
		t.Errorf("text (-got +want):\n%s", diff)
	}
	got, err := parseGolden([]byte(sampleText))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, sample, unexported); diff != "" {
		t.Errorf("read (-got +want):\n%s", diff)
	}
}

func TestGoldenOfTheFirstVersion(t *testing.T) {
	got, err := parseGolden([]byte("h exit 1\nh skew broken claimed 4 2 \"a key\" 0,3\nh overrun hazard claimed 2 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := judgements{"h": {exit: 1, findings: map[string]finding{
		"skew":    {verdict: "broken", claimed: true, exposure: 4, violations: 2, against: 2, key: "a key", clients: "0,3"},
		"overrun": {verdict: "hazard", claimed: true, exposure: 2, violations: 2},
	}}}
	if diff := cmp.Diff(got, want, unexported); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestGoldenComplains(t *testing.T) {
	for text, want := range map[string]string{
		"a exit":                 "line 1 \"a exit\": 2 fields",
		"a exit x":               "invalid syntax",
		"\na skew held - 1":      "line 2",
		"a skew held - one two":  "expected integer",
		"a skew held - 1 0 x":    "invalid syntax",
		`a skew held - 1 0 0 "k`: "invalid syntax",
	} {
		if _, err := parseGolden([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestCoverage(t *testing.T) {
	var out bytes.Buffer
	lacking := showCoverage(&out, sample)
	if diff := cmp.Diff(lacking, []string{"exclusion is never held", "lease is never broken", "lease is never held"}); diff != "" {
		t.Errorf("lacking (-got +want):\n%s", diff)
	}
	want := `  histories and replays: 3  broken  held  untested  n/a
                 exclusion       1     0         0    0
           exclusion@pause       0     1         0    0
            exclusion@skew       1     0         0    0
                     lease       0     0         1    1
                lease@skew       0     0         1    0
`
	if diff := cmp.Diff(out.String(), want); diff != "" {
		t.Errorf("table (-got +want):\n%s", diff)
	}
}

func TestFold(t *testing.T) {
	got := fold([]finding{
		{verdict: "held", claimed: true, exposure: 3},
		{verdict: "broken", exposure: 2, violations: 1, key: "k", clients: "1"},
		{verdict: "n/a"},
	})
	want := finding{verdict: "broken", claimed: true, exposure: 5, violations: 1, key: "k", clients: "1"}
	if diff := cmp.Diff(got, want, unexported); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}
