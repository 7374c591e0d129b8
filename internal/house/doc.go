// Package house holds the repository together. It has tests of what no package
// can see by itself: who imports whom, which behaviours are tested, and whether
// the documents name files that exist. Nobody imports it.
package house
