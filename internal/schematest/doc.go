// Package schematest readies published JSON schemas for the tests of those who write what
// they describe.
package schematest
