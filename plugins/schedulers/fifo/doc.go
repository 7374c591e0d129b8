// Package fifo is the scheduler that lets every trial train to its end, in the
// order of creation. It is the default; use it when trials are cheap or when
// early results say little about late ones.
//
// It decides nothing and has no options.
package fifo
