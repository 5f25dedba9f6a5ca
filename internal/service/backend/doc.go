// Package backend holds the services that the designs of a run lock on, of any kind: see
// [design.Backend], which opens them when package runner asks it to. Redis, in package servers, is
// the backend of designs that name none.
package backend
