// Package designtest has the tests that every design of the catalogue must pass,
// whatever it claims ([Run]), and the means to show the errors of a design, one
// server command at a time ([Through]). For tests only.
package designtest
