// Package designtest is the table of what every design of the catalogue has to
// do, whatever it claims ([Run]), and the means to show what a design does wrong,
// one server command at a time ([Through]). For tests only.
package designtest
