// Package thresholds is a grammar for conditions on the figures of a judged run:
//
//	acquire.p99>20ms
//	exclusion.violations>0
//	lua-token/*: grants_per_s<1000
//
// A [Comparison] reports whether it holds for a run; the caller decides about the
// consequence. A [Threshold] fails a run if it holds. A metric without a value in
// a run decides nothing: that is never success.
package thresholds
