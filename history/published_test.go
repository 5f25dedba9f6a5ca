package history_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/internal/testkit/schematest"
)

// published is the schema of a line.
func published(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := schematest.Compile(false, history.JSONSchema)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// row finds the fields of the tables of a document.
var row = regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\| ")

// TestFieldsAreInStep: the fields of a line and a header are in the code, in the schema and in the
// paper.
func TestFieldsAreInStep(t *testing.T) {
	var schema struct {
		Defs map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(history.JSONSchema, &schema); err != nil {
		t.Fatal(err)
	}
	paper, err := os.ReadFile("../docs/history-format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tables, _ := strings.Cut(string(paper), "\n## The header\n")
	header, lines, _ := strings.Cut(tables, "\n## A line\n")
	lines, _, _ = strings.Cut(lines, "\n## ")
	for _, c := range []struct {
		what   string
		code   []string
		defs   []string
		tables string
	}{
		{"the header", names(reflect.TypeFor[history.Header]()), []string{"header"}, header},
		{"a line", names(history.LineType), []string{"operation", "epoch", "cut", "end"}, lines},
	} {
		var described, told []string
		for _, d := range c.defs {
			for name := range schema.Defs[d].Properties {
				described = append(described, name)
			}
		}
		for _, m := range row.FindAllStringSubmatch(c.tables, -1) {
			told = append(told, m[1])
		}
		slices.Sort(c.code)
		slices.Sort(described)
		slices.Sort(told)
		if diff := cmp.Diff(described, c.code); diff != "" {
			t.Errorf("%s in the schema (-) and in the code (+):\n%s", c.what, diff)
		}
		if diff := cmp.Diff(told, c.code); diff != "" {
			t.Errorf("%s in docs/history-format.md (-) and in the code (+):\n%s", c.what, diff)
		}
	}
}

func names(t reflect.Type) (all []string) {
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "-" {
			all = append(all, name)
		}
	}
	return all
}

// TestKindsHaveTheirFields: the schema lets a kind have a field if the reader does.
func TestKindsHaveTheirFields(t *testing.T) {
	s := published(t)
	for k := history.Acquire; k <= history.Fault; k++ {
		for field, has := range history.FieldKinds(k) {
			line := map[string]any{"op": k.String(), "client": json.Number("1"), "call_ns": json.Number("1"), "key": "a", field: json.Number("1")}
			if field == "late" {
				line[field] = true
			}
			if err := s.Validate(line); (err == nil) != has {
				t.Errorf("%s of a %s: the reader takes it: %v, the schema says %v", field, k, has, err)
			}
		}
	}
}

// TestLinesAreValid: lockbench writes recorded histories as the schema describes and the reader
// accepts.
func TestLinesAreValid(t *testing.T) {
	s, files := published(t), 0
	err := filepath.WalkDir("../bench/corpus", func(path string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".lbh" {
			return err
		}
		if files++; files%longtest.Times(10, 1) != 0 {
			return nil
		}
		src, err := history.Open(path)
		if err != nil {
			return nil // there are some that are no histories, on purpose
		}
		var text bytes.Buffer
		damage := history.WriteJSONL(&text, src)
		for i, line := range bytes.Split(bytes.TrimSpace(text.Bytes()), []byte("\n")) {
			if i > 200 && i%50 > 0 {
				continue
			}
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
			if err != nil {
				return err
			}
			if err := s.Validate(doc); err != nil {
				return fmt.Errorf("%s: %s: %w", path, line, err)
			}
		}
		again, err := history.NewSource(&text)
		if err != nil {
			return err
		}
		for _, err := range again.Events() {
			if err != nil {
				return fmt.Errorf("%s (%v): %w", path, damage, err)
			}
		}
		return nil
	})
	if err != nil || files < 50 {
		t.Errorf("%d files: %v", files, err)
	}
}

// TestPaperIsValid: the examples of the paper match the schema, and can be read.
func TestPaperIsValid(t *testing.T) {
	paper, err := os.ReadFile("../docs/history-format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(paper), "```json\n")
	example, _, _ = strings.Cut(example, "```")
	s := published(t)
	for line := range strings.Lines(example) {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(doc); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	src, err := history.NewSource(strings.NewReader(example))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range src.Events() {
		if err != nil {
			t.Error(err)
		}
	}
}
