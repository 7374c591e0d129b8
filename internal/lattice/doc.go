// Package lattice holds the tests of how this repository is built up: who may
// import whom, and what the core may not do. It has no code for others to use.
package lattice
