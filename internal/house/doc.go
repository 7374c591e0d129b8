// Package house holds the repository together. It has tests of what no package
// can see by itself: which behaviours are tested, and whether the documents name
// files and functions that exist. Nobody imports it.
package house
