// Package pagetest reads the HTML pages of reports as a browser does.
package pagetest
