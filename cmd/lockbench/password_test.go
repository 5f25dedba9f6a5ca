package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// addresses have a password in every place where people put one; PASS stands for it.
var addresses = []string{
	"redis://u:PASS@127.0.0.1:1", "redis://:PASS@127.0.0.1:1", "redis://PASS@127.0.0.1:1", "rediss://u:PASS@127.0.0.1:1",
	"REDIS://u:PASS@127.0.0.1:1", " redis://u:PASS@127.0.0.1:1", "redis://u:PASS@127.0.0.1:port", "redis://u:PASS@[::1",
	"redis://u:PASS@127.0.0.1:1/x", "redis://u:PASS@127.0.0.1:1?protocol=x", "redis://u:PASS@127.0.0.1:1,127.0.0.1:2",
	"http://u:PASS@h", "https://PASS@h/x", "postgres://u:PASS@h/db", "mysql://u:PASS@h/db", "mysql://u:PASS@h", "mysql://u:PASS@h:port/db", "mysql://u@h/db?tls=PASS", "etcd://u:PASS@h:port", "etcd://u:PASS@h/keys", "nats://u:PASS@h", "nats://PASS@h:1/x", "zk://u:PASS@h", "zk://PASS@h/x y", "file://u:PASS@h", "file:///tmp/u:PASS@h", "unix://u:PASS@/nowhere",
	"mongodb+srv://u:PASS@h", "jdbc:postgresql://h/db?user=u&password=PASS", "http://h?token=PASS",
	"unix:///nowhere?password=PASS", "redis://127.0.0.1:1/PASS", "redis://127.0.0.1:1?db=PASS", "redis://127.0.0.1:1?read_timeout=PASS",
	"redis://127.0.0.1:1?write_timeout=PASS", "redis://127.0.0.1:1?password=PASS", "redis://127.0.0.1:1?protocol=PASS&db=1",
	"redis://127.0.0.1:1?master_name=m&password=PASS", "redis://127.0.0.1:1?master_name=m&sentinel_password=PASS", "redis://127.0.0.1:1#PASS",
	"redis://u:PASS", "redis://u:PASS%zz@h", "redis://u:%68PASS@h/x", "redis://u:a/PASS@h", "redis://u:a,PASS@h", "redis://u:a PASS@h",
	"redis://u:a?PASS@h", "redis://u:a#PASS@h", "redis://u:a@PASS@h", `redis://u:PASS"@h`, "redis://u:'PASS@h", "redis://u:PASS\x1b@h",
	"redis:/u:PASS@h", "redis:u:PASS@h", "u:PASS@h", "//u:PASS@h",
}

// TestPasswordsAreHidden: wherever an address is given, no output and no file repeats its password.
func TestPasswordsAreHidden(t *testing.T) {
	quick := []string{"run", "--design", "lua-token/token", "--explore", "0s", "--duration", "0s", "--operations", "1"}
	with := func(more ...string) func(string) []string {
		return func(address string) []string {
			args := append(quick[:len(quick):len(quick)], more...)
			args[len(args)-1] += address
			return args
		}
	}
	just := func(args ...string) func(string) []string {
		return func(address string) []string {
			args := append([]string{}, args...)
			args[len(args)-1] += address
			return args
		}
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for name, args := range map[string]func(string) []string{
		"server": with("--server", ""), "server=": with("--server="), "metrics": with("--metrics", ""),
		"run": just("run", ""), "design": just("run", "--design", ""), "duration": just("run", "--duration", ""), "clients": just("run", "--clients", ""),
		"hold": just("run", "--hold", ""), "stages": just("run", "--stages", ""), "fault": just("run", "--fault", ""), "setting": just("run", "--fault", "crash,"),
		"out": just("run", "--out", ""), "path": just("run", "--fail-if", "x", "--out", "json="), "threshold": just("run", "--fail-if", ""), "flag": just("run", "--"),
		"clean": just("clean", ""), "clean server": just("clean", "--server", ""), "check": just("check", ""), "history": just("history", ""), "report": just("report", ""),
		"matrix": just("matrix", ""), "explore": just("explore", ""), "replay": just("explore", "lua-token/token", "--replay", ""), "explain": just("explain", "lua-token/token", ""),
		"compare": just("compare", "x.json", ""), "limit": just("limit", ""), "list": just("list", ""), "init": just("init", "./"), "verb": just(""),
		"environment": func(address string) []string { t.Setenv(serverVariable, address); return quick },
		"help":        func(address string) []string { t.Setenv(serverVariable, address); return []string{"run", "-h"} },
		"run file": func(address string) []string {
			text := fmt.Sprintf("design: lua-token/token\nexplore: 0s\noperations: 1\nduration: 0s\nserver: %q\n", address)
			if err := os.WriteFile("run.yaml", []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return []string{"run", "run.yaml"}
		},
		"key": func(address string) []string {
			if err := os.WriteFile("run.yaml", fmt.Appendf(nil, "duration: %q\n", address), 0o600); err != nil {
				t.Fatal(err)
			}
			return []string{"run", "run.yaml"}
		},
	} {
		for i, address := range addresses {
			password := fmt.Sprintf("hunTer%sx%d", strings.ReplaceAll(name, " ", ""), i)
			address := strings.ReplaceAll(address, "PASS", password)
			t.Setenv(serverVariable, "")
			var out bytes.Buffer
			execute(t.Context(), args(address), &out, &out)
			if strings.Contains(out.String(), password) {
				t.Errorf("%s: %q is repeated:\n%s", name, address, out.String())
			}
		}
	}
}

// TestPasswordOfARun: no output of a run on a server with a password has the password.
func TestPasswordOfARun(t *testing.T) {
	const password = "hunTer2"
	node := servertest.StartNode(t, "requirepass "+password)
	dir := t.TempDir()
	args := []string{"run", "--server", "redis://:" + password + "@" + node.Addr, "--design", "lua-token/token", "--explore", "0s", "--duration", "0s", "--operations", "200", "--history", dir}
	for _, kind := range []string{"json", "hgrm", "hlog", "bench", "csv", "html", "junit", "markdown", "github"} {
		args = append(args, "--out", kind+"="+filepath.Join(dir, kind))
	}
	var out bytes.Buffer
	execute(t.Context(), args, &out, &out)
	if !strings.Contains(out.String(), "server: external") {
		t.Errorf("the run was not on the server:\n%s", out.String())
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(password)) {
			t.Errorf("%s has the password", path)
		}
		return err
	})
	if err != nil || files < 10 {
		t.Errorf("%d files, error %v; want those of every output", files, err)
	}
	if strings.Contains(out.String(), password) {
		t.Errorf("the output has the password:\n%s", out.String())
	}
}

// TestHelpIsNotMasked: a password that is an ordinary word leaves messages as they are.
func TestHelpIsNotMasked(t *testing.T) {
	for _, word := range []string{"redis", "server", "lockbench", "password", "localhost", "1", "ab", "6379", "2000000000"} {
		var out bytes.Buffer
		execute(t.Context(), []string{"run", "--clients", "2000000000", "--server", "redis://:" + word + "@localhost:6379"}, &out, &out)
		execute(t.Context(), []string{"run", "--server", "redis://:" + word + "@", "-h"}, &out, &out)
		if strings.Contains(out.String(), "***") {
			t.Errorf("password %s masks words of messages:\n%s", word, out.String())
		}
	}
}
