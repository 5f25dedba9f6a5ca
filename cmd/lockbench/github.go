package main

import (
	"errors"
	"io"
	"os"

	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/reports/html"
)

// annotations is the form that GitHub reads from standard output, where lockbench runs
// there; no --out names it.
const annotations = "annotations"

// inGitHub tells GitHub, where lockbench runs there: the report goes to the summary of
// the step, annotations to the log.
func inGitHub(log io.Writer, forms map[string]rendering) error {
	var errs []error
	if path := os.Getenv("GITHUB_STEP_SUMMARY"); path != "" && forms[githubOutput.name] != nil {
		errs = append(errs, appendFile(path, forms[githubOutput.name]))
	}
	if os.Getenv("GITHUB_ACTIONS") == "true" && forms[annotations] != nil {
		errs = append(errs, forms[annotations](log))
	}
	return errors.Join(errs...)
}

// appendFile adds to a file, as several steps do to one summary.
func appendFile(path string, write rendering) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// resultForms are the forms of a result that do not depend on how it came about.
func resultForms(r reports.Result) map[string]rendering {
	markdown := func(w io.Writer) error { return reports.Markdown(w, r) }
	return map[string]rendering{
		jsonOutput.name:     func(w io.Writer) error { return reports.JSON(w, r) },
		junitOutput.name:    func(w io.Writer) error { return reports.JUnit(w, r) },
		markdownOutput.name: markdown,
		githubOutput.name:   markdown,
		htmlOutput.name:     func(w io.Writer) error { return html.Write(w, r) },
		annotations:         func(w io.Writer) error { return reports.Annotations(w, r) },
	}
}
