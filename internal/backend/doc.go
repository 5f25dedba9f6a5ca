// Package backend finds and holds the services that the designs of a run lock on, whatever
// they are: see [design.Backend]. Redis, in package servers, is the backend of designs that
// name none.
package backend
