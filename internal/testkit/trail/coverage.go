package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"slices"
	"strings"
)

// A block is a part of a file, relative to the module, and how often it ran.
type block struct {
	file  string
	line  int // of its start
	last  int // the line of its end
	text  string
	count int64
}

// parse reads a coverage profile.
func parse(r io.Reader) (blocks []block, err error) {
	s := bufio.NewScanner(r)
	for s.Scan() {
		line := s.Text()
		if strings.HasPrefix(line, "mode:") {
			continue
		}
		name, rest, ok := strings.Cut(line, ":")
		var b block
		var column, lastColumn, statements int
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.line, &column, &b.last, &lastColumn, &statements, &b.count); err != nil || !ok {
			return nil, fmt.Errorf("coverage line %q: want file:line.column,line.column statements count", line)
		}
		place, _, _ := strings.Cut(rest, " ")
		b.file, b.text = strings.TrimPrefix(name, module+"/"), name+":"+place
		blocks = append(blocks, b)
	}
	return blocks, s.Err()
}

// grown returns the blocks that ran more often in the second profile, by nine tenths of n at
// least: a run may end before its last iterations.
func grown(first, second []block, n int64) (busy []block) {
	before := map[string]int64{}
	for _, b := range first {
		before[b.text] = max(before[b.text], b.count)
	}
	for _, b := range second {
		if (b.count-before[b.text])*10 >= n*9 {
			busy = append(busy, b)
		}
	}
	return busy
}

// functionsOf returns the names of the declared functions that have one of the blocks, by file. A
// function literal counts as the function around it.
func functionsOf(blocks []block, path func(file string) string) (map[string][]string, error) {
	byFile := map[string][]block{}
	for _, b := range blocks {
		byFile[b.file] = append(byFile[b.file], b)
	}
	all := map[string][]string{}
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path(file), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			fn, is := d.(*ast.FuncDecl)
			if !is {
				continue
			}
			from, to := set.Position(fn.Pos()).Line, set.Position(fn.End()).Line
			if slices.ContainsFunc(byFile[file], func(b block) bool { return from <= b.line && b.last <= to }) {
				all[file] = append(all[file], nameOf(fn))
			}
		}
	}
	return all, nil
}

// nameOf returns the name of a function, a method's behind its type.
func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	of := fn.Recv.List[0].Type
	if star, is := of.(*ast.StarExpr); is {
		of = star.X
	}
	if generic, is := of.(*ast.IndexExpr); is {
		of = generic.X
	}
	if name, is := of.(*ast.Ident); is {
		return name.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}
