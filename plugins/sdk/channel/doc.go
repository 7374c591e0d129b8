// Package channel lets a program in any language report to tunehost, with lines of JSON over the
// unix socket that TUNEHOST_CHANNEL names.
//
// The program writes one report per line and reads one answer per line:
//
//	→ {"metrics":{"accuracy":0.93,"val":{"loss":0.2}},"iteration":3,"checkpoint":"DIR"}
//	← {"decision":"continue"}
//
// The decision is continue, pause or stop; the host answers when it has decided. "iteration" starts
// at 1; without it the host counts. "checkpoint" is optional: a complete directory in
// TUNEHOST_CHECKPOINT_DIR, which then belongs to the host. Nested metrics are joined with "/". NaN,
// Infinity and -Infinity are accepted bare, as Python writes them, and as strings; they are written
// as strings.
//
// If the host dies, or kills the trial, before the result is in its record, the channel closes without an answer
// ([ErrNoAnswer]): nobody has decided anything.
//
// A line that is not a report gets {"error":"…"}, and the channel stays open. A program may use
// several connections at a time, or one for each report.
//
// Go programs use [Report] or [Dial]; [Serve] is the host's side.
package channel
