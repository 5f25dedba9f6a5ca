// Package turns runs two designs in turns, so that changes on the machine affect both alike, and
// saves each result as soon as it is there.
package turns
