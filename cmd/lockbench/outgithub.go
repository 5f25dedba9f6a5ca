package main

import (
	"bytes"
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

// appendFile appends to a file, since several steps write to one summary. If it cannot write all of
// the report, it leaves the file as it was.
func appendFile(path string, form reports.Form, r results.Report) error {
	var text bytes.Buffer
	if err := reports.Write(&text, form, r, reports.Options{}); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	before, err := f.Stat()
	if err == nil {
		if _, err = f.Write(text.Bytes()); err != nil && before.Mode().IsRegular() {
			err = errors.Join(err, f.Truncate(before.Size()))
		}
	}
	return errors.Join(err, f.Close())
}
