package output

import (
	"errors"
	"io"
	"os"
)

// annotations is the form that GitHub reads from standard output, where lockbench runs
// there; no --out names it.
const annotations = "annotations"

// inGitHub tells GitHub, where lockbench runs there: the report goes to the summary of
// the step, annotations to the log.
func inGitHub(log io.Writer, all forms) error {
	var errs []error
	if path := os.Getenv("GITHUB_STEP_SUMMARY"); path != "" && all[githubKind.name] != nil {
		errs = append(errs, appendFile(path, all[githubKind.name]))
	}
	if os.Getenv("GITHUB_ACTIONS") == "true" && all[annotations] != nil {
		errs = append(errs, all[annotations](log))
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
