package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/lib/tempdir"
)

// directories is the backend: each service is a directory with lock files.
type directories struct{}

// Name implements [design.Backend].
func (directories) Name() string { return "file" }

// scheme begins the address of a directory.
const scheme = "file://"

// Offers implements [design.Backend].
func (directories) Offers() design.Service { return &directory{} }

// Serves implements [design.Backend].
func (directories) Serves(address string) bool { return strings.HasPrefix(address, scheme) }

// Open implements [design.Backend]. Without addresses it creates temporary directories.
func (directories) Open(_ context.Context, addresses []string, n int) (all []design.Service, err error) {
	if len(addresses) > 0 && len(addresses) < n {
		return nil, fmt.Errorf("a design locks in %d directories, %d given; hint: name as many, or none for temporary ones", n, len(addresses))
	}
	for i := range max(n, len(addresses)) {
		d := &directory{kind: design.External}
		if len(addresses) > 0 {
			d.path = filepath.FromSlash(strings.TrimPrefix(addresses[i], scheme))
		} else if d.own, err = tempdir.Fresh(); err != nil {
			return all, err
		} else {
			d.kind, d.path = design.Private, d.own.Path
		}
		all = append(all, d)
	}
	return all, nil
}

// A directory is one service.
type directory struct {
	kind, path string
	own        *tempdir.Dir // nil for a directory of the user's
}

func (d *directory) Kind() string    { return d.kind }
func (d *directory) Version() string { return "directory on " + runtime.GOOS }
func (d *directory) Address() string { return scheme + filepath.ToSlash(d.path) }

// Reach implements [design.Service]. It returns the path.
func (d *directory) Reach() any { return d.path }

// Check implements [design.Service]. It checks that files can be created in the directory and
// removed.
func (d *directory) Check(context.Context, []string) error {
	probe, err := os.CreateTemp(d.path, "lockbench-probe-")
	if err != nil {
		return fmt.Errorf("directory %s cannot have lock files: %w; hint: name one that exists and may be written to, as %s/tmp/locks", d.path, err, scheme)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// Ping implements [design.Service].
func (d *directory) Ping(context.Context) error {
	_, err := os.Stat(d.path)
	return err
}

// Sweep implements [design.Service].
func (d *directory) Sweep(_ context.Context, prefix string) (removed int, err error) {
	entries, err := os.ReadDir(d.path)
	for _, e := range entries {
		name, unescaped := url.QueryUnescape(e.Name())
		if prefix == "" || unescaped != nil || !strings.HasPrefix(name, prefix) {
			continue
		}
		if gone := os.Remove(filepath.Join(d.path, e.Name())); gone == nil {
			removed++
		} else if !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return removed, err
}

// Close implements [design.Service].
func (d *directory) Close() error {
	if d.own == nil {
		return nil
	}
	return d.own.Remove()
}

// pathOf returns the path of the file for a key in the directory of an environment.
func pathOf(env design.Environment, key string) string {
	dir, _ := env.Services[0].(string)
	return filepath.Join(dir, url.QueryEscape(env.Prefix+key))
}
