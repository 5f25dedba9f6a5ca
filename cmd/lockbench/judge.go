package main

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/measure"
	"github.com/lockbench/lockbench/reports"
)

// judge reads the history in path once, and judges and measures it on the way.
// The error is that of opening it; damage further on is told in the result,
// which then covers what comes before. Claims, when not nil, replace the
// history's.
func judge(path string, claims []lockbench.Guarantee) (reports.Judged, error) {
	src, err := history.Open(path)
	if err != nil {
		return reports.Judged{}, err
	}
	if c, closes := src.(io.Closer); closes {
		defer c.Close()
	}
	return judgeSource(src, path, claims, nil), nil
}

// judgeSource is judge for a history that is open already. Look, when not nil, is called
// after each event, with what judges it.
func judgeSource(src history.Source, path string, claims []lockbench.Guarantee, look func(*checker.Checker, history.Event)) reports.Judged {
	h := src.Header()
	if claims != nil {
		h.Claims = claims
	}
	if h.Design == "" {
		h.Design = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	verdicts, figures := checker.New(h), measure.New(h)
	j := reports.Judged{Header: h, History: path}
	var damage error
	for ev, err := range src.Events() {
		if err != nil {
			damage = err
			break
		}
		verdicts.Add(ev)
		figures.Add(ev)
		if look != nil {
			look(verdicts, ev)
		}
	}
	if j.End = src.End(); !j.End.Partial {
		j.Err = damage // a partial history says itself where and why it stops
	}
	j.Verdicts, j.Measures = verdicts.Finish(j.End), figures.Result(j.End)
	return j
}
