// Package recordstest tests the guarded records of a service. For tests only.
package recordstest
