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
	"strings"

	"github.com/lockbench/lockbench/internal/lib/suggest"
)

//go:embed python/lockbench_adapter.py python/my_lock.py
//go:embed node/lockbench-adapter.js node/ioredis.js node/redlock.js node/package.json node/package-lock.json
//go:embed php/lockbench_adapter.php php/symfony.php
//go:embed java/pom.xml java/src/main/java/lockbench/Adapter.java java/src/main/java/lockbench/RedissonLock.java
//go:embed rust/Cargo.toml rust/Cargo.lock rust/src/lib.rs rust/src/bin/rslock.rs
var files embed.FS

// A starter is an adapter to start from: files of the language's folder, the adapter last, the command
// that prepares it and the command that starts it, with the user's folder for %[1]s.
type starter struct {
	language string
	files    []string
	prepare  string
	command  string
}

var starters = []starter{
	{"python", []string{"lockbench_adapter.py", "my_lock.py"}, "", "python3 %[1]s/my_lock.py"},
	{"node", []string{"lockbench-adapter.js", "ioredis.js", "package.json", "package-lock.json", "redlock.js"},
		"npm ci --prefix %[1]s", "node %[1]s/redlock.js sesamecare"},
	{"php", []string{"lockbench_adapter.php", "symfony.php"},
		"apt-get install php-cli php-redis php-symfony-lock", "php %[1]s/symfony.php"},
	{"java", []string{"pom.xml", "src/main/java/lockbench/Adapter.java", "src/main/java/lockbench/RedissonLock.java"},
		"mvn -q -f %[1]s/pom.xml package", "java -cp %[1]s/target/adapters.jar lockbench.RedissonLock"},
	{"rust", []string{"Cargo.toml", "Cargo.lock", "src/lib.rs", "src/bin/rslock.rs"},
		"cargo build --release --bin rslock --manifest-path %[1]s/Cargo.toml", "%[1]s/target/release/rslock"},
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
		to := filepath.Join(dir, filepath.FromSlash(f))
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

// Hint returns the next steps after New wrote an adapter into a folder.
func Hint(language, dir string) string {
	s, err := find(language)
	if err != nil {
		return ""
	}
	text := fmt.Sprintf("next: put your lock in the place of the one in %s/%s, then", dir, s.files[len(s.files)-1])
	for _, line := range []string{s.prepare, "lockbench adapter check -- " + s.command, "lockbench run --adapter '" + s.command + "'"} {
		if line != "" {
			text += "\n  " + strings.ReplaceAll(line, "%[1]s", dir)
		}
	}
	return text
}
