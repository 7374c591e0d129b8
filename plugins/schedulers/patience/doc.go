// Package patience is the scheduler that judges each trial by itself: one that
// has stopped improving is stopped, and so is one that is beyond a limit. Use it
// when trials cannot be compared with each other, for instance because they train
// for different objectives or on different data; else asha spends less.
//
// It is early stopping as in Prechelt, "Early Stopping — But When?", 1998, with
// the stopping criterion UP, counted in iterations.
//
// # Options
//
//   - patience (10): iterations without improvement after which a trial stops.
//   - min_delta (0): what counts as improvement must be better than the best so
//     far by more than this, in units of the metric.
//   - grace (1): iterations before which no trial is stopped.
//   - limit (none): a value of the metric; trials that report a worse one are
//     stopped at once, after the grace.
//   - objective: the metric that is judged, needed with several objectives.
//
// # Rules
//
// Patience is counted in iterations, not in results, from the iteration of the
// last improvement; a trial's first finite result is an improvement, and one that
// never reports any is counted from its start. A loss that is not finite improves
// nothing, and is beyond any limit. Results that repeat earlier iterations after
// a restore are ignored.
package patience
