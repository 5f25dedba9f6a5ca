package runfile

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A started key is one that a run file to start from sets.
type started struct{ key, why, value string }

// settingsToStart are the settings that most runs choose, in an order for
// reading.
var settingsToStart = []started{
	{"design", "Which locks, by name or glob: lockbench list designs has all.", "[lua-token/strategy, redislock/obtain]"},
	{"workload", "What clients do under the lock: lockbench list workloads.", "oversell"},
	{"clients", "So many clients compete for so many locks, each pair of clients for one of them.", "32"},
	{"keys", "", "12"},
	{"key-choice", "", "pairs"},
	{"ttl", "The lease they ask for, and how long they wait for a lock that is held.", "1s"},
	{"wait", "", "250ms"},
	{"hold", "How long they work under the lock: 5ms, uniform:1ms-5ms, exp:5ms or lognormal:5ms,0.8.", "exp:1ms"},
	{"stallers", "Clients beside those that are measured, which work on past their lease, as a stalled process does.", "12"},
	{"duration", "How long each design runs.", "3s"},
	{"fail-if", "What fails the run beside a broken claim: lockbench list metrics has what can be measured.", "[exclusion.violations>0, acquire.p99>5s]"},
	{"out", "Files to write beside the table.", "{json: result.json}"},
}

// samples are values for keys that have no default to show.
var samples = map[string]string{
	"accept":     "accepted.yaml",
	"budget":     "5m",
	"server":     "redis://127.0.0.1:6379/0",
	"fault":      "[crash, lost-reply: {p: 0.01}]",
	"guard":      "[none, cas]",
	"claims":     "[+exclusion@failover, -recovery@cancel]",
	"history":    "histories",
	"seed":       "1",
	"operations": "10000",
	"rate":       "1000",
	"stages":     "[30s:100, 1m:1000]",
	"metrics":    "127.0.0.1:9090",
	"known":      "on",
	"adapter":    "python3 my_lock.py",
	"take":       "SET {key} {token} NX PX {ttl_ms}",
	"free":       "EVAL @free.lua 1 {key} {token}",
	"extend":     "EVAL @extend.lua 1 {key} {token} {ttl_ms}",
	"nats":       "nats://10.0.0.9:4222",
	"token":      "a-secret",
	"tls-cert":   "certificate.pem",
	"tls-key":    "key.pem",
	"conditions": "[outlived, crash, lost-reply]",
}

// Starter returns the text of a run file to start from, for a file of that
// name.
func Starter(path string, keys []Key) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# yaml-language-server: $schema=%s\n#\n# A run file of lockbench. Run it with\n#\n#     lockbench run %s\n#\n", SchemaURL, path)
	b.WriteString("# Each key is a flag of lockbench run, and flags given beside the file come first:\n#\n")
	fmt.Fprintf(&b, "#     lockbench run %s --duration 1m\n", path)
	for _, s := range settingsToStart {
		if s.why != "" {
			b.WriteString("\n" + comment(s.why))
		}
		fmt.Fprintf(&b, "%s: %s\n", s.key, s.value)
	}
	b.WriteString("\n# Everything else that a run takes:\n")
	for _, k := range keys {
		if !slices.ContainsFunc(settingsToStart, func(s started) bool { return s.key == k.Name }) {
			fmt.Fprintf(&b, "\n%s#%s: %s\n", comment(k.Help), k.Name, sample(k))
		}
	}
	return b.Bytes()
}

// inHelp matches a default in the help of a key, for keys with zero as a sign for
// another value.
var inHelp = regexp.MustCompile(`\(default ([0-9][^ ;)]*)`)

// sample returns a valid value of a key: its default if it has one.
func sample(k Key) string {
	value, given := samples[k.Name]
	switch {
	case given:
		return value
	case k.Default != "":
		return k.Default
	case inHelp.MatchString(k.Help):
		return inHelp.FindStringSubmatch(k.Help)[1]
	case k.Type == Boolean:
		return "true"
	case k.Type == Duration || k.Type == Distribution:
		return "0s"
	case k.Type == Text && len(k.Known) > 0:
		return k.Known[0]
	}
	return "0"
}

// comment wraps a text into comment lines.
func comment(text string) string {
	const width = 88
	var lines strings.Builder
	line := "#"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > width {
			lines.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	return lines.String() + line + "\n"
}
