// Package strategy chooses the schedules of an exploration. A strategy is given the choices
// that there are at a point, and returns one: it knows no clock, no server and no lock.
//
//   - [Exhaustive] goes through all schedules, simple ones first, and leaves out what differs
//     from another only in the order of steps that commute ([Effect]);
//   - [Random] draws them, by PCT if it is to;
//   - [Guided] follows a known one as far as that goes.
package strategy
