package measure

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/lockbench/lockbench/history"
)

// intervalWidth is the width of the intervals in a log.
const intervalWidth = time.Second

// An IntervalLog writes latencies second by second in the log format of HdrHistogram
// (version 1.3), which HistogramLogAnalyzer and others show: one tag per operation, values
// in ns, the maximum in ms. It is not safe for concurrent use.
type IntervalLog struct {
	w     *bufio.Writer
	log   *hdrhistogram.HistogramLogWriter
	base  int64 // the log counts from here; Unix ms, of a whole second
	begun bool
	err   error
}

// NewIntervalLog returns a log that writes to w.
func NewIntervalLog(w io.Writer) *IntervalLog {
	b := bufio.NewWriter(w)
	return &IntervalLog{w: b, log: hdrhistogram.NewHistogramLogWriter(b)}
}

// Run returns Intervals that log a run as events are added. Tags begin with prefix and a
// dot, unless it is empty. Log runs one after another.
func (l *IntervalLog) Run(h history.Header, prefix string) *Intervals {
	started := int64(0)
	if at, err := time.Parse(time.RFC3339Nano, h.Started); err == nil {
		started = at.UnixMilli()
	}
	l.begin(started)
	if prefix != "" {
		prefix += "."
	}
	return NewIntervals(h, intervalWidth, func(in Interval) {
		v := in.Values
		v.SetTag(prefix + in.Op.String())
		v.SetStartTimeMs(started + in.From/int64(time.Millisecond))
		v.SetEndTimeMs(started + in.To/int64(time.Millisecond))
		l.keep(l.log.OutputIntervalHistogram(v))
	})
}

// begin writes the header once.
func (l *IntervalLog) begin(started int64) {
	if l.begun {
		return
	}
	l.begun = true
	l.base = started - started%1000
	l.log.SetBaseTime(l.base)
	l.keep(l.log.OutputComment("[Logged by lockbench; values in ns, Interval_Max in ms]"))
	l.keep(l.log.OutputLogFormatVersion())
	l.keep(l.log.OutputStartTime(l.base))
	l.keep(l.log.OutputBaseTime(l.base))
	l.keep(l.log.OutputLegend())
}

// keep keeps the first error.
func (l *IntervalLog) keep(err error) {
	if l.err == nil && err != nil {
		l.err = fmt.Errorf("write the interval log: %w", err)
	}
}

// Close writes buffered data, and returns the first error of all writes. It does not close
// the underlying writer.
func (l *IntervalLog) Close() error {
	l.keep(l.w.Flush())
	return l.err
}
