package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/lockbench/lockbench"

// house lists the packages of lockbench that a package may import directly: data flows one way,
// contract <- history <- checker <- results <- reports, and the code that drives a lock sees
// neither recorder nor judge. Packages that are not named here may import any.
var house = map[string][]string{
	"":                                   {},
	"history":                            {"", "internal/suggest", "internal/fault", "internal/serverror", "internal/runinfo"},
	"internal/runinfo":                   {}, // plain data: any package may import it
	"internal/synthetic":                 {"", "history", "internal/runinfo"},
	"internal/measure":                   {"", "history", "internal/fault", "internal/measure/series", "internal/serverror", "internal/runinfo"},
	"internal/measure/series":            {},
	"internal/thresholds":                {"", "checker", "internal/measure", "internal/suggest"},
	"internal/conclusion":                {"", "checker", "internal/figures"},
	"internal/choosing":                  {"", "impls", "impls/design", "internal/conclusion", "internal/evidence", "internal/figures", "internal/known"},
	"internal/known":                     {"", "checker", "history", "impls", "internal/results", "internal/runinfo"},
	"internal/evidence":                  {"", "impls", "impls/design", "internal/conclusion", "internal/explore", "internal/exploring", "internal/fault", "internal/inject", "internal/known", "internal/results", "internal/suggest", "history", "workloads"},
	"internal/results":                   {"internal/wholefile", "", "history", "checker", "internal/measure", "internal/measure/series", "internal/thresholds", "internal/limits", "internal/statistics", "internal/suggest", "internal/figures", "internal/conclusion", "internal/runinfo"},
	"reports":                            {"internal/legible", "", "history", "checker", "internal/results", "internal/measure", "internal/measure/series", "internal/thresholds", "internal/limits", "internal/statistics", "internal/suggest", "internal/figures", "internal/conclusion", "reports/internal/*", "internal/runinfo"},
	"reports/internal/document":          {},
	"reports/internal/repeats":           {"internal/results"},
	"reports/internal/*":                 {"reports/internal/document", "reports/internal/terminal", "internal/figures", "internal/legible"},
	"checker":                            {"", "history", "internal/fault", "internal/measure/series", "internal/relay", "checker/internal/*"},
	"internal/exporter":                  {"", "history", "checker", "internal/measure", "internal/results", "internal/runinfo", "reports", "runner"},
	"internal/limits":                    {},
	"internal/ui":                        {"internal/legible", "", "checker", "internal/fault", "internal/measure", "internal/measure/series", "internal/figures", "internal/progress", "internal/results", "reports", "runner"},
	"workloads":                          {"", "internal/suggest", "internal/figures"},
	"impls/design":                       {""},
	"impls/design/onredis":               {"", "impls/design", "internal/serverror"},
	"impls":                              {"", "impls/*", "internal/control", "internal/suggest"},
	"impls/*":                            {"", "impls/design", "impls/design/onredis", "internal/batching"},
	"impls/file":                         {"", "impls/design", "internal/tempdir"},
	"internal/control":                   {"", "impls/design"},
	"internal/batching":                  {"impls/design", "impls/design/onredis"},
	"internal/backend":                   {"", "history", "impls/design", "internal/runinfo"},
	"internal/servers":                   {"internal/buildinfo", "internal/figures", "internal/replylimit", "internal/tempdir", "", "history", "impls/design", "impls/design/onredis", "internal/serverror"},
	"internal/fault":                     {"", "internal/suggest"}, // plain data: any package may import it
	"internal/inject":                    {"", "history", "impls/design", "impls/design/onredis", "internal/fault", "internal/servers", "internal/runinfo"},
	"internal/load":                      {"", "internal/buildinfo", "internal/backend", "internal/fault", "internal/inject", "history", "impls/design", "impls/design/onredis", "internal/servers", "workloads", "internal/suggest", "internal/processor", "internal/occupancy", "internal/serverwatch", "internal/standstill", "internal/runinfo"},
	"internal/explore":                   {"", "internal/backend", "history", "checker", "internal/fault", "impls/design", "impls/design/onredis", "internal/stepserver", "internal/suggest", "workloads", "internal/explore/internal/*", "internal/runinfo"},
	"internal/explore/internal/strategy": {"history", "internal/fault", "internal/stepserver"},
	"internal/explore/internal/render":   {"internal/stepserver"},
	"internal/explore/internal/shrink":   {"", "internal/explore/internal/strategy"},
	"internal/stepserver":                {"internal/stepserver/*"},
	"internal/stepserver/*":              {},
	"internal/bubble":                    {"", "internal/explore", "impls/design"},
	"internal/runfile":                   {"internal/suggest"},
	"internal/budget":                    {"runner", "workloads"},
	"internal/accept":                    {"", "impls", "internal/results", "internal/runfile"},
	"internal/*":                         {},
	"internal/servertest":                {"internal/servers", "internal/stepserver"},
	"checker/internal/interval":          {"history"},
	"checker/internal/pending":           {"", "history", "checker/internal/interval"},
	"checker/internal/count":             {"", "history", "internal/measure/series"},
	"checker/internal/crosscheck":        {"history", "checker/internal/count", "checker/internal/interval"}, // of interval stamps and leases alone
	"internal/occupancy":                 {""},
	"internal/serverwatch":               {"history", "impls/design", "internal/fault"},
	"internal/standstill":                {"history", "internal/fault"},
	"internal/mutants":                   {"", "impls/design", "impls/design/onredis"},
	"internal/designtest":                {"", "impls/design", "impls/design/onredis", "internal/longtest", "internal/servertest", "locktest"},
	"cmd/lockbench":                      {"", "history", "checker", "internal/measure", "internal/thresholds", "internal/exporter", "internal/results", "reports", "runner", "workloads", "impls", "impls/*", "internal/explore", "internal/*"},
	"internal/exploring":                 {"", "internal/buildinfo", "checker", "history", "internal/explore", "impls", "impls/design", "internal/bubble", "internal/mutants", "internal/results", "reports", "workloads", "internal/runinfo"},
	"internal/limitsearch":               {"", "impls/design", "internal/figures", "internal/limits", "internal/load", "internal/thresholds", "internal/results", "reports", "runner", "workloads"},
	"internal/catalog":                   {"", "internal/explore", "impls", "internal/fault", "internal/suggest", "internal/thresholds", "workloads"},
	"internal/progress":                  {"internal/legible", "", "checker", "internal/explore", "internal/results", "reports", "runner", "internal/exploring"},
	"internal/alternating":               {"internal/load", "internal/wholefile", "internal/results", "reports", "runner", "workloads"},
	"internal/matrix":                    {"internal/tempdir", "internal/wholefile", "", "internal/evidence", "internal/explore", "impls", "impls/design", "internal/exploring", "internal/fault", "internal/inject", "internal/mutants", "internal/progress", "internal/thresholds", "internal/results", "reports", "runner", "workloads"},
	"runner":                             {"internal/tempdir", "", "internal/evidence", "history", "checker", "internal/measure", "internal/thresholds", "internal/relay", "internal/spool", "internal/load", "internal/backend", "internal/fault", "internal/inject", "internal/servers", "internal/mutants", "impls/design", "workloads", "internal/results", "reports"},
}

// reserved lists the only packages that may directly import paths with a prefix, by prefix.
var reserved = map[string][]string{
	"github.com/redis/rueidis":          {"impls/*", "internal/batching"},
	"github.com/redis/go-redis/":        {"impls/*", "impls/design/onredis", "internal/batching", "internal/designtest", "internal/servers", "internal/inject", "locktest", "internal/explore", "internal/explore/internal/clientpool", "bench/*", "internal/servertest", "internal/mutants"},
	"github.com/alicebob/miniredis/":    {"impls/*", "internal/designtest", "internal/servers", "internal/inject", "locktest", "internal/stepserver"},
	"github.com/spf13/cobra":            {"cmd/*"},
	"charm.land/":                       {"internal/ui"},
	"github.com/olekukonko/tablewriter": {"reports/internal/terminal"},
	"github.com/goccy/go-yaml":          {"internal/runfile"},
	"github.com/anishathalye/porcupine": {"checker/internal/crosscheck", "bench/*"},
	"github.com/prometheus/":            {"internal/exporter"},
	"testing":                           {"locktest", "internal/bubble", "internal/servertest", "internal/longtest", "internal/designtest"},
}

// remote lists the packages that must not be linked into a package, directly or indirectly.
var remote = map[string][]string{
	"":                    {"."}, // a dot: any package outside of the standard library
	"history":             {"github.com/redis/", "github.com/alicebob/miniredis"},
	"checker":             {"github.com/redis/", "github.com/alicebob/miniredis"},
	"internal/measure":    {"github.com/redis/", "github.com/alicebob/miniredis"},
	"internal/thresholds": {"github.com/redis/", "github.com/alicebob/miniredis"},
	"internal/results":    {"github.com/redis/", "github.com/alicebob/miniredis"},
	"reports":             {"github.com/redis/", "github.com/alicebob/miniredis"},
	"workloads":           {"github.com/redis/", "github.com/alicebob/miniredis"},
	"impls/design":        {"github.com/redis/", "github.com/alicebob/miniredis"},
	// A test of a foreign lock links neither the live driver nor its means to inject faults.
	"locktest": {"github.com/Shopify/toxiproxy", module + "/internal/load", module + "/internal/inject", module + "/internal/servers"},
}

// A listing is the output of go list on a package, without its tests.
type listing struct {
	ImportPath string
	Imports    []string // directly
	Deps       []string // directly and indirectly
}

func TestImportsRunOneWay(t *testing.T) {
	for _, p := range list(t) {
		name := short(p.ImportPath)
		for _, complaint := range slices.Concat(checkHouse(name, p), checkReserved(name, p), checkRemote(name, p)) {
			t.Errorf("%s %s; hint: docs/design/README.md says which way imports run, the tables above repeat it", p.ImportPath, complaint)
		}
	}
}

// TestTheRulesBite checks that a package that breaks a rule is found, for each kind of rule.
func TestTheRulesBite(t *testing.T) {
	for _, c := range []struct {
		name string
		in   listing
		want []string
	}{
		{"checker", listing{Imports: []string{"fmt", module + "/history", module + "/internal/load"}}, []string{"imports internal/load"}},
		{"impls/lua-token", listing{Imports: []string{module + "/impls/watch-multi"}}, []string{"imports impls/watch-multi"}},
		{"reports/internal/pdf", listing{Imports: []string{module + "/reports/internal/document", module + "/internal/results"}}, []string{"imports internal/results"}},
		{"workloads", listing{Imports: []string{"github.com/redis/go-redis/v9"}}, []string{"imports github.com/redis/go-redis/v9"}},
		{"internal/load", listing{Imports: []string{"testing"}}, []string{"imports testing"}},
		{"internal/explore", listing{Imports: []string{"testing/synctest"}}, []string{"imports testing/synctest"}},
		{"reports", listing{Imports: []string{"github.com/spf13/cobra"}}, []string{"imports github.com/spf13/cobra"}},
		{"", listing{Deps: []string{"time", "example.org/x"}}, []string{"depends on example.org/x"}},
		{"internal/servers", listing{Imports: []string{module, module + "/history", "github.com/redis/go-redis/v9"}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := slices.Concat(checkHouse(c.name, c.in), checkReserved(c.name, c.in), checkRemote(c.name, c.in))
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("complaints (-got +want):\n%s", diff)
			}
		})
	}
}

func checkHouse(name string, p listing) (complaints []string) {
	allowed, judged := ruleFor(house, name)
	for _, path := range p.Imports {
		if judged && isOurs(path) && !slices.ContainsFunc(allowed, matching(short(path))) {
			complaints = append(complaints, "imports "+short(path))
		}
	}
	return complaints
}

func checkReserved(name string, p listing) (complaints []string) {
	for prefix, allowed := range reserved {
		for _, path := range p.Imports {
			if strings.HasPrefix(path, prefix) && !slices.ContainsFunc(allowed, matching(name)) {
				complaints = append(complaints, "imports "+path)
			}
		}
	}
	return complaints
}

func checkRemote(name string, p listing) (complaints []string) {
	for _, prefix := range remote[name] {
		for _, path := range p.Deps {
			domain, _, _ := strings.Cut(path, "/")
			if prefix == "." && strings.Contains(domain, ".") || prefix != "." && strings.HasPrefix(path, prefix) {
				complaints = append(complaints, "depends on "+path)
			}
		}
	}
	return complaints
}

// ruleFor returns the rule for a package: its own, else the rule of its siblings, else the rule of
// the folders above.
func ruleFor(rules map[string][]string, name string) ([]string, bool) {
	if rule, ok := rules[name]; ok {
		return rule, true
	}
	for at := strings.LastIndexByte(name, '/'); at > 0; at = strings.LastIndexByte(name[:at], '/') {
		if rule, ok := rules[name[:at]+"/*"]; ok {
			return rule, true
		}
	}
	return nil, false
}

// matching returns whether a pattern fits name: itself, or "parent/*" for
// everything below the parent.
func matching(name string) func(pattern string) bool {
	return func(pattern string) bool {
		below, all := strings.CutSuffix(pattern, "*")
		return name == pattern || all && strings.HasPrefix(name, below)
	}
}

func isOurs(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

func short(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
}

func list(t *testing.T) (packages []listing) {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps=false", "-json=ImportPath,Imports,Deps", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listing
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
