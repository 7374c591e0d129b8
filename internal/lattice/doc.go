// Package lattice tests the structure of this repository: which package may import which, and what
// the core must not do. It has no code for others.
package lattice
