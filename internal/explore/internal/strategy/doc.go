// Package strategy chooses the schedules of an exploration. A strategy gets the choices at a
// point, and returns one: it knows no clock, no server and no lock.
//
//   - [Exhaustive] goes through all schedules, simple ones first, and leaves out schedules that
//     differ from another only in the order of steps that commute ([Effect]);
//   - [Random] draws them, optionally by PCT;
//   - [Guided] follows a known one as far as possible.
package strategy
