package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/lib/tempdir"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/results"
)

// A histories is the directory for the histories of a session.
type histories struct {
	dir string
	// temporary is the directory if the user asked for none, else nil. It keeps only histories
	// with a violation or an error, so that the command that re-checks them works.
	temporary *tempdir.Dir
	kept      bool         // whether histories stay in temporary
	release   func() error // unlocks the user's directory
}

// newHistories returns histories in dir, which it creates if necessary, or in a temporary directory
// if dir is empty. It returns an error if another process writes histories to dir.
func newHistories(dir string) (*histories, error) {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("--history %s: %w; hint: a directory that can be made or written to", dir, err)
		}
		release, err := tempdir.Lock(filepath.Join(dir, ".lockbench"))
		if errors.Is(err, tempdir.ErrInUse) {
			return nil, fmt.Errorf("--history %s: another lockbench writes histories there; hint: another directory", dir)
		}
		return &histories{dir: dir, release: release}, nil // on systems without file locks, dir is not locked and release does nothing
	}
	made, err := tempdir.Fresh()
	if err != nil {
		return nil, fmt.Errorf("no place for histories: %w; hint: --history DIR", err)
	}
	return &histories{dir: made.Path, temporary: made}, nil
}

// keptHistory is the maximum size, in bytes, of a history that the user did not request. It is
// enough for about ten million operations.
const keptHistory = 256 << 20

// keep returns the maximum size of a history in bytes, zero for no limit.
func (r *histories) keep() int64 {
	if r.temporary != nil {
		return keptHistory
	}
	return 0
}

func (r *histories) path(design string) string {
	return filepath.Join(r.dir, results.FileName(design)+".lbh")
}

// part returns the path of the history of a share.
func (r *histories) part(design string, share runinfo.Share) string {
	return filepath.Join(r.dir, results.PartName(design, share))
}

// remove removes the history of a run, or those of its shares.
func (r *histories) remove(design string) error {
	files := []string{r.path(design)}
	parts, err := filepath.Glob(filepath.Join(r.dir, results.FileName(design)+".part-*-of-*.lbh"))
	for _, file := range append(files, parts...) {
		if gone := os.Remove(file); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// tidy removes temporary histories without a violation, and the directory when none is left; it
// clears the paths of removed histories.
func (r *histories) tidy(runs []results.Judged) error {
	if r.temporary == nil {
		return r.release()
	}
	var errs []error
	kept := make(map[string]bool)
	for i := range runs {
		if isEvidence(&runs[i]) {
			kept[runs[i].History] = true
			for _, path := range runs[i].Together {
				kept[path] = true
			}
		} else {
			runs[i].History, runs[i].Together = "", nil
		}
	}
	if len(kept) == 0 {
		return r.temporary.Remove()
	}
	files, err := filepath.Glob(filepath.Join(r.dir, "*.lbh"))
	errs = append(errs, err)
	for _, file := range files {
		if !kept[file] {
			errs = append(errs, os.Remove(file))
		}
	}
	r.kept = true
	return errors.Join(append(errs, r.temporary.Keep())...)
}

// place tells people where kept histories are, and for how long.
func (r *histories) place() string {
	return fmt.Sprintf("histories with a violation or an error: %s, for %d days unless %d folders are newer; --history DIR keeps all",
		r.dir, int(tempdir.KeptFor.Hours()/24), tempdir.MostKept)
}

// isEvidence reports whether j has a broken cell, a defect or an error, so that its history is
// worth another look.
func isEvidence(j *results.Judged) bool {
	for _, f := range j.Verdicts.Findings {
		if f.Verdict == checker.Broken {
			return true
		}
	}
	return len(j.Verdicts.Defects) > 0 || j.Err != nil && j.Verdicts.Ops > 0
}
