// Package reports shows judged runs: a table and timelines for people, JSON with
// a published schema for machines, HdrHistogram files for plotting tools. Every
// report is made from one Result, so that all of them say the same; nothing here
// prints or decides anything.
package reports
