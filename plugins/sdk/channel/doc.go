// Package channel is how a program of any language reports to tunehost: lines
// of JSON over the unix socket that TUNEHOST_CHANNEL names.
//
// The program writes one report a line and reads one answer a line:
//
//	→ {"metrics":{"accuracy":0.93,"val":{"loss":0.2}},"iteration":3,"checkpoint":"DIR"}
//	← {"decision":"continue"}
//
// The decision is continue, pause or stop; the answer comes when the host has
// decided. "iteration" counts from 1 and may be left out, then the host counts;
// "checkpoint" may be left out, else it is a directory below
// TUNEHOST_CHECKPOINT_DIR that is complete and from now on the host's. Nested
// metrics are joined with "/". NaN, Infinity and -Infinity are read bare, as
// Python writes them, and as strings; they are written as strings.
//
// A line that is no report gets {"error":"…"} and the channel goes on. Several
// connections at a time are fine, and so is one for each report.
//
// Go programs use [Report] or [Dial]; [Serve] is the host's end.
package channel
