// Package patience is the scheduler that judges each trial by itself: one that
// has stopped improving is stopped, and so is one that is beyond a limit. Use it
// when trials cannot be compared with each other, for instance because they train
// for different objectives or on different data; else asha spends less.
//
// It is early stopping as in Prechelt, "Early Stopping — But When?", 1998, with
// the stopping criterion UP, counted in iterations.
//
// # Rules
//
// Patience is counted in iterations, not in results, from the iteration of the
// last improvement; a trial's first finite result is an improvement, and one that
// never reports any is counted from its start. A loss that is not finite improves
// nothing, and is beyond any limit. Results that repeat earlier iterations after
// a restore are ignored.
package patience
