// Package adapters has the kits and the adapters that come with lockbench, a folder for each language,
// and writes those to start from.
package adapters

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/lockbench/lockbench/internal/lib/suggest"
)

//go:embed python/lockbench_adapter.py python/my_lock.py
var files embed.FS

// A starter is what a user starts from: files of the language's folder, and what to do next, with the
// user's folder for %[1]s.
type starter struct {
	language string
	files    []string
	next     string
}

var starters = []starter{
	{"python", []string{"lockbench_adapter.py", "my_lock.py"},
		"next: put your lock in the place of the one in %[1]s/my_lock.py, then\n  lockbench adapter check -- python3 %[1]s/my_lock.py\n  lockbench run --adapter 'python3 %[1]s/my_lock.py'"},
}

// Languages returns the languages with a kit.
func Languages() (all []string) {
	for _, s := range starters {
		all = append(all, s.language)
	}
	return all
}

func find(language string) (starter, error) {
	for _, s := range starters {
		if s.language == language {
			return s, nil
		}
	}
	return starter{}, suggest.Unknown("language", language, Languages())
}

// New writes an adapter to start from into a folder, which it makes, and returns the files that it
// wrote. A file that exists is an error unless force is set.
func New(language, dir string, force bool) (wrote []string, err error) {
	s, err := find(language)
	if err != nil {
		return nil, err
	}
	how := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if !force {
		how |= os.O_EXCL
	}
	for _, f := range s.files {
		text, err := files.ReadFile(path.Join(language, f))
		if err != nil {
			return wrote, err
		}
		to := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return wrote, fmt.Errorf("%w; hint: name a folder that can be made or written to", err)
		}
		if err := write(to, text, how); err != nil {
			return wrote, err
		}
		wrote = append(wrote, to)
	}
	return wrote, nil
}

func write(to string, text []byte, how int) error {
	f, err := os.OpenFile(to, how, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists; hint: name another folder, or --force to overwrite it", to)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// Hint says what to do with the adapter that New wrote into a folder.
func Hint(language, dir string) string {
	s, err := find(language)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(s.next, dir)
}
