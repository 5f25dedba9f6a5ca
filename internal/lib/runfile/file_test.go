package runfile_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/lib/runfile"
)

// keys returns one key of each kind.
func keys() []runfile.Key {
	return []runfile.Key{
		{Name: "clients", Type: runfile.Integer, Check: whole},
		{Name: "sizes", Type: runfile.Integer, List: true, Check: whole},
		{Name: "seed", Type: runfile.Count, Check: whole},
		{Name: "slow", Type: runfile.Number, Check: func(s string) error { _, err := strconv.ParseFloat(s, 64); return err }},
		{Name: "ttl", Type: runfile.Duration, Check: func(s string) error { _, err := time.ParseDuration(s); return err }},
		{Name: "quiet", Type: runfile.Boolean, Check: func(s string) error { _, err := strconv.ParseBool(s); return err }},
		{Name: "history"},
		{Name: "workload", Known: []string{"oversell", "redeem"}},
		{Name: "design", List: true, Commas: true, Patterns: true, Known: []string{"a/b"}},
		{Name: "guard", List: true, Commas: true, Known: []string{"none", "fence"}},
		{Name: "server", List: true},
		{Name: "stages", Joined: true, Check: staged},
		{Name: "out", List: true, Pair: "=", Known: []string{"json", "hgrm"}},
		{Name: "fault", List: true, Pair: "=", Known: []string{"crash", "cut"}},
		{Name: "fail-if", List: true, Pair: ": "},
	}
}

func whole(text string) error {
	_, err := strconv.ParseInt(text, 0, 64)
	return err
}

func staged(text string) error {
	if strings.Count(text, ":") != strings.Count(text, ",")+1 {
		return fmt.Errorf("stages %q: no pairs; hint: 30s:100,1m:1000", text)
	}
	return nil
}

func TestReadValues(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       map[string][]string
	}{
		{"scalars as they are written", "clients: 0x10\nttl: 1m30s\nslow: 1e-1\nquiet: true\nhistory: 'a b'\nseed: \"7\"", map[string][]string{
			"clients": {"0x10"}, "ttl": {"1m30s"}, "slow": {"1e-1"}, "quiet": {"true"}, "history": {"a b"}, "seed": {"7"}}},
		{"comments, blank lines, flow style", "# to begin with\n\n{clients: 3, # so many\n history: x}\n", map[string][]string{"clients": {"3"}, "history": {"x"}}},
		{"other line ends, and a byte order mark", "\uFEFFclients: 3\r\nhistory: x\r\n", map[string][]string{"clients": {"3"}, "history": {"x"}}},
		{"lists", "design: [a/*, '*/b']\nserver:\n  - redis://one,two\n  - unix:///x", map[string][]string{
			"design": {"a/*", "*/b"}, "server": {"redis://one,two", "unix:///x"}}},
		{"numbers of a list", "sizes: [1, 8]", map[string][]string{"sizes": {"1", "8"}}},
		{"one number for a list", "sizes: 8", map[string][]string{"sizes": {"8"}}},
		{"one value for a list", "server: redis://one,two\ndesign: a/b", map[string][]string{"server": {"redis://one,two"}, "design": {"a/b"}}},
		{"values by comma", "guard: none, fence", map[string][]string{"guard": {"none", "fence"}}},
		{"a list for a value with commas", "stages:\n  - 30s:100\n  - 1m:1000", map[string][]string{"stages": {"30s:100,1m:1000"}}},
		{"pairs as text", "out: [json=a.json, hgrm=d]\nfault: cut,p=0.1", map[string][]string{"out": {"json=a.json", "hgrm=d"}, "fault": {"cut,p=0.1"}}},
		{"pairs as a mapping", "out:\n  json: [a.json, b.json]\n  hgrm: d", map[string][]string{"out": {"json=a.json", "json=b.json", "hgrm=d"}}},
		{"names with settings", "fault:\n  - crash\n  - cut: {p: 0.01, while: held}\n  - crash:", map[string][]string{"fault": {"crash", "cut,p=0.01,while=held", "crash"}}},
		{"pairs with a colon", "fail-if:\n  - a.p99>20ms\n  - lua/*: a.p99 > 20ms", map[string][]string{"fail-if": {"a.p99>20ms", "lua/*: a.p99 > 20ms"}}},
		{"folded text", "history: >\n  a\n  b\n", map[string][]string{"history": {"a b"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, err := runfile.Read("s.yaml", []byte(c.text), keys())
			if err != nil {
				t.Fatal(err)
			}
			got := map[string][]string{}
			for _, s := range file.Settings {
				got[s.Key.Name] = s.Texts()
			}
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("settings (-got +want):\n%s", diff)
			}
		})
	}
}

func TestReadTellsWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"misspelt key", "clients: 3\nclinets: 4", `s.yaml:2:1: unknown key "clinets"; hint: did you mean clients?`},
		{"key like no other", "zzz: 4", `s.yaml:1:1: unknown key "zzz"; hint: keys are the flags of lockbench run, without their dashes`},
		{"key of other programs", "redis: a", `s.yaml:1:1: unknown key "redis"; hint: did you mean server?`},
		{"unknown value", "\nworkload: oversel", `s.yaml:2:11: unknown workload "oversel"; hint: did you mean oversell?`},
		{"unknown item", "guard:\n  - none\n  - fnce", `s.yaml:3:5: unknown guard "fnce"; hint: did you mean fence?`},
		{"unknown name of a pair", "out:\n  jsn: x", `s.yaml:2:3: unknown out "jsn"; hint: did you mean json?`},
		{"unknown name with settings", "fault: [crsh: {p: 1}]", `s.yaml:1:9: unknown fault "crsh"; hint: did you mean crash?`},
		{"number", "clients: many", `s.yaml:1:10: clients "many": it takes a whole number; hint: such as 8`},
		{"number of a list", "sizes:\n  - 1\n  - many", `s.yaml:3:5: sizes "many": it takes a whole number; hint: such as 8, or a list: [1, 8, 64]`},
		{"numbers by comma", "sizes: 1,8", `s.yaml:1:8: sizes "1,8": it takes a whole number; hint: such as 8, or a list: [1, 8, 64]`},
		{"duration", "ttl: 2", `s.yaml:1:6: ttl "2": it takes a duration; hint: such as 500ms, 2s or 1m30s`},
		{"truth", "quiet: maybe", `s.yaml:1:8: quiet "maybe": it takes true or false; hint: such as true`},
		{"check of its own", "stages: [30s]", `s.yaml:1:10: stages "30s": no pairs; hint: 30s:100,1m:1000`},
		{"nothing", "clients:", `s.yaml:1:10: clients has no value; hint: give it one, or leave the key out`},
		{"list for one", "clients: [1, 2]", `s.yaml:1:10: clients takes one value, not a list; hint: clients: VALUE`},
		{"empty list", "server: []", `s.yaml:1:9: server has an empty list; hint: leave the key out for its default`},
		{"mapping for a text", "history: {a: b}", `s.yaml:1:10: history takes a text, not a mapping; hint: quote a text that has a colon and a blank, or braces`},
		{"glob without quotes", "design:\n  - */b", `s.yaml:2:5: a value that begins with * must be quoted; hint: '*/poll'`},
		{"twice", "clients: 3\nclients: 4", `s.yaml:2:1: it is not YAML: mapping key "clients" already defined at [1:1]; hint: lines of key: value, each key once, indented by blanks`},
		{"no mapping", "hello", `s.yaml:1:1: a run file is a mapping; hint: lines of key: value, such as clients: 8`},
		{"two documents", "clients: 3\n---\nclients: 4", `s.yaml:3:1: a second document begins here; hint: a file is one document, without ---`},
		{"nothing at all", "# later\n", `s.yaml: it sets nothing; hint: lockbench init writes a run file to start from`},
		{"no text", "\xff\xfe", `s.yaml: it is not UTF-8; hint: save it as YAML in UTF-8`},
		{"all at once", "ttl: 2\nclients: 3\nclinets: 4", "2 problems in s.yaml\n" +
			"s.yaml:1:6: ttl \"2\": it takes a duration\n    hint: such as 500ms, 2s or 1m30s\n" +
			"s.yaml:3:1: unknown key \"clinets\"\n    hint: did you mean clients?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := runfile.Read("s.yaml", []byte(c.text), keys())
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(err.Error(), c.want); diff != "" {
				t.Errorf("error (-got +want):\n%s", diff)
			}
		})
	}
}

func TestSyntaxErrorsHaveAPlace(t *testing.T) {
	for _, text := range []string{"a: 1\n b: 2", "clients 3\nttl: 2s", "a: [1", "a: \"x", "\tclients: 3", "a: b: c", "{", "a: {b", "- \n -a\n  b: c: d"} {
		var problems runfile.Problems
		if _, err := runfile.Read("s.yaml", []byte(text), keys()); !errors.As(err, &problems) {
			t.Errorf("%q: error %v, want problems", text, err)
		} else if problems[0].At.Line < 1 || problems[0].At.Column < 1 {
			t.Errorf("%q: %v has no place", text, problems[0])
		}
	}
}

func TestLocate(t *testing.T) {
	file, err := runfile.Read("s.yaml", []byte("clients: 0\nttl: 1s\nsizes: [4, 8, 8]"), keys())
	if err != nil {
		t.Fatal(err)
	}
	values := func(s runfile.Setting) []string { return s.Texts() }
	cause := errors.New("clients 0: a run needs somebody; hint: 1 or more")
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"names the setting", fmt.Errorf("run: %w", cause), "s.yaml:1:10: run: clients 0: a run needs somebody; hint: 1 or more"},
		{"names another value", errors.New("clients 1: alone"), "clients 1: alone"},
		{"written otherwise", errors.New("t-t l 1s: too short"), "s.yaml:2:6: t-t l 1s: too short"},
		{"names two settings", errors.New("ttl 1s: clients 0: too few"), "s.yaml:1:10: ttl 1s: clients 0: too few"},
		{"names a value of a list", errors.New("sizes 4: too few"), "s.yaml:3:9: sizes 4: too few"},
		{"names a value that stands twice", errors.New("sizes 8: it is listed twice"), "s.yaml:3:15: sizes 8: it is listed twice"},
		{"names nothing", errors.New("the server is lost"), "the server is lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := file.Locate(c.err, values)
			if diff := cmp.Diff(got.Error(), c.want); diff != "" {
				t.Errorf("error (-got +want):\n%s", diff)
			}
			if !errors.Is(got, c.err) {
				t.Errorf("%v does not wrap its cause", got)
			}
		})
	}
	if err := file.Locate(nil, values); err != nil {
		t.Errorf("no error became %v", err)
	}
}

// FuzzRead asserts that any file gives either settings or problems with positions.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"clients: 3\nttl: 1s", "design: [a/*, '*/b']", "fault:\n  - cut: {p: 1}", "stages: [30s:1]", "out: {json: [a, b]}", "a: &b 1\nc: *b", "!!map {a: b}", "? a\n: b", "<<: {a: b}", "--- |\n x\n...\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := runfile.Read("s.yaml", []byte(text), keys())
		var problems runfile.Problems
		switch {
		case err != nil && (!errors.As(err, &problems) || len(problems) == 0):
			t.Fatalf("error %v has no problems", err)
		case err == nil && len(file.Settings) == 0:
			t.Fatal("neither settings nor problems")
		}
		for _, s := range file.Settings {
			if len(s.Values) == 0 || s.Values[0].At.Line < 1 {
				t.Fatalf("%s: %+v", s.Key.Name, s)
			}
		}
	})
}

// TestLoad checks that files that would take gigabytes to parse are refused.
func TestLoad(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("# long\n", 9000):                      "",
		strings.Repeat("# longer\n", 9000):                    "more than 64 KB",
		strings.Repeat("[", 5000):                             "more than 4000 lists",
		strings.Repeat("- ", 5000):                            "more than 4000 lists",
		"design: [a, b]\nfault: [{crash: 1}]\n":               "",
		strings.Repeat("[", 2000) + strings.Repeat("{", 2001): "more than 4000 lists",
	} {
		_, err := runfile.Load("-", strings.NewReader(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.10q: got %v, want %q", text, err, want)
		}
	}
}
