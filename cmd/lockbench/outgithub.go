package main

import (
	"errors"
	"io"
	"os"
	"slices"

	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/results"
)

// inGitHub writes the outputs of GitHub Actions if lockbench runs there: the report to the summary of
// the step, annotations to the log.
func inGitHub(log io.Writer, r results.Report, kinds []outKind) error {
	var errs []error
	if path := os.Getenv("GITHUB_STEP_SUMMARY"); path != "" && slices.Contains(kinds, githubKind) {
		errs = append(errs, appendFile(path, githubKind.form, r))
	}
	if os.Getenv("GITHUB_ACTIONS") == "true" && slices.Contains(kinds, junitKind) {
		errs = append(errs, reports.Write(log, reports.Annotations, r, reports.Options{}))
	}
	return errors.Join(errs...)
}

// appendFile appends to a file, since several steps write to one summary.
func appendFile(path string, form reports.Form, r results.Report) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(reports.Write(f, form, r, reports.Options{}), f.Close())
}
