// Package fifo lets every trial train to its end, in the order of creation. It is the default; use
// it if trials are cheap or if early results say little about later ones.
//
// It makes no decisions and has no options.
package fifo
