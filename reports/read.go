package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ReadResult reads what JSON wrote. The error says how it is damaged, or what else it is.
func ReadResult(r io.Reader) (Result, error) {
	var result Result
	d := fileKind{kind: "result", schema: Schema, command: "lockbench run --out json=FILE"}
	err := d.read(r, &result)
	return result, err
}

// A fileKind is a kind of JSON document that this package writes.
type fileKind struct {
	kind, schema string
	command      string // that writes one
}

// read decodes the document in r into v.
func (d fileKind) read(r io.Reader, v any) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := d.check(text); err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("it is damaged: %w; hint: write it again by %s", err, d.command)
	}
	return nil
}

// explores reports whether these are runs of an exploration, in any version.
func explores(runs json.RawMessage) bool {
	var all []struct {
		Exploration json.RawMessage `json:"exploration"`
	}
	return json.Unmarshal(runs, &all) == nil && len(all) > 0 && all[0].Exploration != nil
}

// check reports what text is if it is no such file.
func (d fileKind) check(text []byte) error {
	var head struct {
		Schema string          `json:"schema"`
		Runs   json.RawMessage `json:"runs"`
	}
	var syntax *json.SyntaxError
	err := json.Unmarshal(text, &head)
	family := d.schema[:strings.LastIndexByte(d.schema, '/')+1]
	switch {
	case errors.As(err, &syntax) && int(syntax.Offset) >= len(text):
		return fmt.Errorf("it is cut short, after %d bytes; hint: write it again by %s", len(text), d.command)
	case err != nil:
		return fmt.Errorf("it is no JSON %s: %w; hint: name a file that %s wrote", d.kind, err, d.command)
	case head.Schema == d.schema:
		return nil
	case strings.HasPrefix(head.Schema, family):
		if explores(head.Runs) {
			d.command = "lockbench explore --out json=FILE"
		}
		return fmt.Errorf("it is a %s of another version, %s, and this lockbench reads %s; hint: make it anew: %s", d.kind, head.Schema, d.schema, d.command)
	}
	return fmt.Errorf("it says schema %q, and a %s %q; hint: name a file that %s wrote", head.Schema, d.kind, d.schema, d.command)
}
