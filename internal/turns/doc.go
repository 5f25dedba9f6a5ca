// Package turns runs two designs in turns, so that what changes on the machine meanwhile meets both alike, and saves each
// result as soon as it is there.
package turns
