package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

// The exit codes.
const (
	exitSame      = 0
	exitDifferent = 1
	exitBadInput  = 2
)

// errDifferent ends the program with exitDifferent; the differences are printed already.
var errDifferent = errors.New("different")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, os.Args[1:])
	stop()
	os.Exit(exitOf(os.Stderr, err))
}

// exitOf is the exit code for err, which it prints unless that was done.
func exitOf(w io.Writer, err error) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitSame
	case errors.Is(err, errDifferent):
		return exitDifferent
	}
	fmt.Fprintln(w, "same:", err)
	return exitBadInput
}

// options are the flags.
type options struct {
	corpus, replays, mapping, write, table string
}

func run(ctx context.Context, w io.Writer, args []string) error {
	var o options
	flags := flag.NewFlagSet("same", flag.ContinueOnError)
	flags.StringVar(&o.corpus, "corpus", "bench/corpus", "folder of histories")
	flags.StringVar(&o.replays, "replays", "", "folder of more replays")
	flags.StringVar(&o.mapping, "mapping", "", "file that translates the names of OLD to those of NEW")
	flags.StringVar(&o.write, "write", "", "golden file to write what one binary says to")
	flags.StringVar(&o.table, "table", "", "golden file to print the table of verdicts of")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case o.table != "" && flags.NArg() == 0:
		return o.tabulate(w)
	case o.write != "" && flags.NArg() == 1:
		return o.record(ctx, w, flags.Arg(0))
	case o.write == "" && o.table == "" && flags.NArg() == 2:
		return o.compare(ctx, w, flags.Arg(0), flags.Arg(1))
	}
	return fmt.Errorf("%d arguments; hint: same OLD NEW, same -write FILE BINARY, or same -table FILE", flags.NArg())
}

// compare compares two sides.
func (o options) compare(ctx context.Context, w io.Writer, older, newer string) error {
	m, err := readMapping(o.mapping)
	if err != nil {
		return err
	}
	var said [2]judgements
	err = o.withCorpus(func(c corpus) (err error) {
		for i, s := range []side{{"OLD", older}, {"NEW", newer}} {
			if said[i], err = s.judgements(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c, err := compare(said[0], said[1], m)
	if err != nil {
		return err
	}
	c.show(w)
	if len(c.differences) > 0 {
		return errDifferent
	}
	return nil
}

// record writes a golden file, and the table of its content.
func (o options) record(ctx context.Context, w io.Writer, path string) error {
	return o.withCorpus(func(c corpus) error {
		js, err := side{"BINARY", path}.judgements(ctx, c)
		if err != nil {
			return err
		}
		if err := writeGolden(o.write, js); err != nil {
			return err
		}
		return o.cover(w, js)
	})
}

func (o options) tabulate(w io.Writer) error {
	js, err := readGolden(o.table)
	if err != nil {
		return err
	}
	return o.cover(w, js)
}

// cover prints the table, and fails if a verdict is missing.
func (o options) cover(w io.Writer, js judgements) error {
	lacking := showCoverage(w, js)
	if len(lacking) == 0 {
		return nil
	}
	fmt.Fprintln(w, strings.Join(lacking, "; "))
	return errDifferent
}

// withCorpus passes the corpus to do, with its replays as copies that any build can
// read.
func (o options) withCorpus(do func(corpus) error) (err error) {
	c, err := openCorpus(o.corpus, o.replays)
	if err != nil {
		return err
	}
	place, err := os.MkdirTemp("", "same")
	if err != nil {
		return fmt.Errorf("make a folder for copies: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(place)) }()
	if err := c.neutral(place); err != nil {
		return err
	}
	return do(c)
}
