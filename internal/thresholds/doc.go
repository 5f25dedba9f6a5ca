// Package thresholds is one grammar for conditions on the figures of a judged run:
//
//	acquire.p99>20ms
//	exclusion.violations>0
//	lua-token/*: grants_per_s<1000
//
// A [Comparison] says of a run whether it holds; the caller decides what that
// means. A [Threshold] fails a run for which it holds. A metric that has no value in
// a run decides nothing: that is never success.
package thresholds
