//go:build linux

package baddays

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// readers are the calls that read a file of each kind. write has the arguments of the call that
// writes it.
var readers = []struct {
	kind, file string
	write      []string
	read       [][]string // FILE is the damaged file, WHOLE the undamaged one
	sealed     bool       // it has checksums: damage must never be taken for a violation
}{
	{"history", "token.lbh", nil, [][]string{{"check", "FILE"}, {"history", "FILE"}}, true},
	{"JSON Lines", "token.jsonl", nil, [][]string{{"check", "FILE"}}, false},
	{"result", "result.json", []string{"run", "--design", lock, "--duration", "300ms", "--explore", "0s", "--out", "json=FILE"},
		[][]string{{"report", "FILE"}, {"report", "FILE", "--out", "html=/dev/null"}, {"compare", "--force", "WHOLE", "--", "FILE"}}, false},
	{"result with points", "points.json", []string{"run", "--design", lock, "--clients", "1,2,3", "--keys", "1,2,3", "--stallers", "0", "--duration", "50ms", "--warmup", "0s", "--explore", "0s", "--out", "json=FILE"},
		[][]string{{"report", "FILE"}, {"compare", "--force", "WHOLE", "--", "FILE"}, {"compare", "--force", "FILE", "--", "FILE"}}, false},
	{"matrix", "matrix.json", []string{"matrix", lock, "--drivers", "explore", "--schedules", "400", "--out", "json=FILE"},
		[][]string{{"report", "FILE"}, {"explain", "FILE", lock, "exclusion"}}, false},
	{"run file", "run.yaml", nil, [][]string{{"run", "FILE", "--duration", "10ms", "--explore", "0s", "--warmup", "0s", "--clients", "2"}}, false},
}

// damage lets lockbench read damaged files.
func (b *bench) damage(ctx context.Context) error {
	dir, err := b.sub("files")
	if err != nil {
		return err
	}
	temp, err := b.sub("temp")
	if err != nil {
		return err
	}
	// One history, in its own format and as JSON Lines, and a run file to begin with.
	o := b.run(ctx, trial{args: []string{"run", "--design", lock, "--duration", "300ms", "--explore", "0s", "--history", dir}, temp: temp})
	found, _ := filepath.Glob(filepath.Join(dir, "*.lbh"))
	if len(found) != 1 {
		return fmt.Errorf("%d histories written: %s", len(found), o.out)
	}
	lines := b.run(ctx, trial{args: []string{"history", found[0]}, temp: temp})
	if err := os.WriteFile(filepath.Join(dir, "token.jsonl"), []byte(lines.out), 0o600); err != nil {
		return err
	}
	if err := os.Rename(found[0], filepath.Join(dir, "token.lbh")); err != nil {
		return err
	}
	text := "design: " + lock + "\nworkload: mutex\nclients: 2\nttl: 1s\nfault: [crash]\n"
	if err := os.WriteFile(filepath.Join(dir, "run.yaml"), []byte(text), 0o600); err != nil {
		return err
	}
	for _, kind := range readers {
		whole := filepath.Join(dir, kind.file)
		if kind.write != nil {
			b.run(ctx, trial{args: named(kind.write, whole, ""), temp: temp})
		}
		text, err := os.ReadFile(whole)
		if err != nil {
			return err
		}
		r := b.table.row("a damaged " + kind.kind)
		damaged := filepath.Join(dir, "damaged-"+kind.file)
		for n := range max(1, b.mutations/len(readers)) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := os.WriteFile(damaged, b.mutate(text), 0o600); err != nil {
				return err
			}
			t := trial{args: named(kind.read[n%len(kind.read)], damaged, whole), temp: temp}
			o := b.run(ctx, t)
			r.count(t, o)
			if kind.sealed && o.exit == 1 {
				r.note(&r.accused, "lockbench %s: %.1500s", strings.Join(t.args, " "), o.out)
			}
			if strings.ContainsAny(o.out, "\x1b\x07") {
				r.note(&r.broken, "control characters in %.500q", o.out)
			}
		}
	}
	return nil
}

// named replaces the placeholders for files.
func named(args []string, file, whole string) (all []string) {
	for _, arg := range args {
		all = append(all, strings.NewReplacer("FILE", file, "WHOLE", whole).Replace(arg))
	}
	return all
}

// hostileNumbers replace numbers.
var hostileNumbers = []string{"-1", "0", "9223372036854775807", "1000000000000", "1e308", "null", `""`, "[]"}

// mutate damages text: it changes bytes, removes or repeats a part, cuts off the end, or replaces a
// number.
func (b *bench) mutate(text []byte) []byte {
	text = append([]byte{}, text...)
	for range 1 + b.rand.IntN(4) {
		if len(text) < 2 {
			return text
		}
		at := b.rand.IntN(len(text))
		part := text[at:min(len(text), at+1+b.rand.IntN(200))]
		switch b.rand.IntN(6) {
		case 0:
			text[at] ^= 1 << b.rand.IntN(8)
		case 1:
			text = append(text[:at], text[at+len(part):]...)
		case 2:
			text = append(text[:at:at], append(append([]byte{}, part...), text[at:]...)...)
		case 3:
			text = text[:at]
		case 4:
			text[at] = byte(b.rand.IntN(256))
		case 5:
			text = replaceNumber(text, at, hostileNumbers[b.rand.IntN(len(hostileNumbers))])
		}
	}
	return text
}

// replaceNumber replaces the first number at or after at.
func replaceNumber(text []byte, at int, by string) []byte {
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	for at < len(text) && !digit(text[at]) {
		at++
	}
	end := at
	for end < len(text) && digit(text[end]) {
		end++
	}
	return append(text[:at:at], append([]byte(by), text[end:]...)...)
}
