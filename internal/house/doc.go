// Package house tests properties of the whole repository that no package can test alone: which
// behaviours are tested, whether the documents name files and functions that exist, and whether texts are
// plain English. No package
// imports it.
package house
