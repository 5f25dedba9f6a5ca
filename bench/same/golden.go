package main

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// goldenMagic begins a golden file. After it every history has a line with its exit code,
// and one for each cell, all sorted, so that git shows the changes. Files of version 1 have
// guarantees in place of cells, and no AGAINST.
const goldenMagic = `# lockbench golden 2
# HISTORY exit CODE [partial] [WHY IT CANNOT BE JUDGED]
# HISTORY CELL VERDICT claimed|- EXPOSURE VIOLATIONS AGAINST [KEY CLIENTS of the clearest violation]
`

// exitName is in the place of a guarantee in lines with exit codes.
const exitName = "exit"

// writeGolden writes judgements to a golden file.
func writeGolden(path string, js judgements) error {
	if err := os.WriteFile(path, goldenText(js), 0o644); err != nil {
		return fmt.Errorf("write the golden file: %w", err)
	}
	return nil
}

func goldenText(js judgements) []byte {
	var b bytes.Buffer
	b.WriteString(goldenMagic)
	for _, name := range slices.Sorted(maps.Keys(js)) {
		j := js[name]
		fmt.Fprintf(&b, "%s exit %d%s%s\n", name, j.exit, optional(j.partial, " partial"), optional(j.said != "", " "+strconv.Quote(j.said)))
		for _, cell := range slices.Sorted(maps.Keys(j.findings)) {
			fmt.Fprintf(&b, "%s %s %s\n", name, cell, j.findings[cell])
		}
	}
	return b.Bytes()
}

// String is f in the format of golden files and differences.
func (f finding) String() string {
	claimed := "-"
	if f.claimed {
		claimed = "claimed"
	}
	evidence := optional(f.key != "" || f.clients != "", fmt.Sprintf(" %q", f.key)+optional(f.clients != "", " "+f.clients))
	return fmt.Sprintf("%s %s %d %d %d%s", f.verdict, claimed, f.exposure, f.violations, f.against, evidence)
}

func optional(when bool, text string) string {
	if when {
		return text
	}
	return ""
}

// readGolden reads a golden file.
func readGolden(path string) (judgements, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the golden file: %w; hint: bench/corpus.sh writes it", err)
	}
	js, err := parseGolden(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return js, nil
}

func parseGolden(text []byte) (judgements, error) {
	js := judgements{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := js.addLine(line); err != nil {
			return nil, fmt.Errorf("line %d %q: %w", n, line, err)
		}
	}
	return js, lines.Err()
}

// addLine reads one line of a golden file.
func (js judgements) addLine(line string) error {
	fields := strings.SplitN(line, " ", 3)
	if len(fields) < 3 {
		return fmt.Errorf("%d fields; hint: HISTORY CELL VERDICT and what follows", len(fields))
	}
	name, what, rest := fields[0], fields[1], fields[2]
	j := js[name]
	if j.findings == nil {
		j.findings = map[string]finding{}
	}
	var err error
	if what == exitName {
		err = j.parseExit(rest)
	} else {
		j.findings[what], err = parseFinding(rest)
	}
	js[name] = j
	return err
}

func (j *judgement) parseExit(text string) error {
	code, rest, _ := strings.Cut(text, " ")
	rest, j.partial = strings.CutPrefix(rest, "partial")
	var err error
	if j.exit, err = strconv.Atoi(code); err == nil && strings.TrimSpace(rest) != "" {
		j.said, err = strconv.Unquote(strings.TrimSpace(rest))
	}
	return err
}

func parseFinding(text string) (f finding, err error) {
	var claimed, rest string
	if _, err := fmt.Sscanf(text, "%s %s %d %d", &f.verdict, &claimed, &f.exposure, &f.violations); err != nil {
		return f, err
	}
	f.claimed = claimed == "claimed"
	f.against = f.failing()
	if fields := strings.SplitN(text, " ", 5); len(fields) == 5 {
		rest = fields[4]
	}
	if against, evidence, _ := strings.Cut(rest, " "); !strings.HasPrefix(rest, `"`) && rest != "" {
		if f.against, err = strconv.ParseInt(against, 10, 64); err != nil {
			return f, err
		}
		rest = evidence
	}
	if rest != "" {
		if f.key, err = strconv.QuotedPrefix(rest); err != nil {
			return f, err
		}
		f.clients = strings.TrimSpace(rest[len(f.key):])
		f.key, err = strconv.Unquote(f.key)
	}
	return f, err
}
