// Package schematest readies published JSON schemas for the tests of code that writes what
// they describe.
package schematest
