// Package patience judges each trial separately: it stops trials that no longer improve, and trials
// beyond a limit. Use it if trials cannot be compared with each other, for example because they
// train for different objectives or on different data; otherwise asha is more efficient.
//
// It is early stopping as in Prechelt, "Early Stopping — But When?", 1998, with
// the stopping criterion UP, counted in iterations.
//
// # Rules
//
// Patience is counted in iterations, not in results, since the iteration of the last improvement. A
// trial's first finite result is an improvement; without any, the count begins at the start of the
// trial. A loss that is not finite is no improvement, and is beyond any limit. Results that repeat
// earlier iterations after a restore are ignored.
package patience
