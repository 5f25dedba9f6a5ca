package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/schematest"
)

// TestRecorders runs the recorders of examples around a sound lock and a broken one, and judges
// their files: whole, of a part of the keys, and cut by a kill.
func TestRecorders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ program, folder, script string }{
		{"python3", "python", "workers.py"},
		{"node", "node", "workers.mjs"},
	} {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.program); err != nil && os.Getenv("LOCKBENCH_REQUIRE_SERVERS") != "1" {
				t.Skip(c.program + " is not in PATH")
			}
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filepath.Join("../../examples", c.folder))); err != nil {
				t.Fatal(err)
			}
			workers := c.program + " " + c.script
			shell(t, dir, workers+" sound.jsonl && lockbench check sound.jsonl")
			shell(t, dir, workers+" broken.jsonl broken && lockbench check broken.jsonl   # exit 1")
			shell(t, dir, workers+" sample.jsonl sound 300 0.5 && lockbench check sample.jsonl")
			killed(t, dir, c.program, c.script, "killed.jsonl", "sound", "1000000000")
			shell(t, dir, "lockbench check killed.jsonl   # exit 3")
			for _, name := range []string{"sound.jsonl", "broken.jsonl", "sample.jsonl"} {
				validLines(t, filepath.Join(dir, name))
			}
			if text := contents(t, filepath.Join(dir, "sample.jsonl")); bytes.Contains([]byte(text), []byte(`"item:0"`)) {
				t.Error("a key is recorded that is not in the sample")
			}
		})
	}
}

// killed runs a program until its file has some epochs, and kills it.
func killed(t *testing.T, dir string, command ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for bytes.Count(soFar(filepath.Join(dir, command[2])), []byte("epoch_ns")) < 4 {
		if t.Context().Err() != nil {
			break
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// soFar returns the content of a file so far, nothing if there is none.
func soFar(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(f)
	return text
}

// validLines checks each line of a file against the published schema.
func validLines(t *testing.T, path string) {
	t.Helper()
	schema, err := schematest.Compile(false, history.JSONSchema)
	if err != nil {
		t.Fatal(err)
	}
	for text := range bytes.Lines([]byte(contents(t, path))) {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}
