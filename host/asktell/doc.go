// Package asktell is the protocol of `tunehost asktell`: the caller trains, asks
// for trials and tells results. It is for the host and for tests of the command;
// programs speak it over the command's standard input and output.
//
// One JSON object a line; each request gets its answer on one line, in order:
//
//	→ {"ask": true}
//	← {"trial":"ID","number":17,"params":{…}}
//	← {"trial":"ID","params":{…},"resume_from":9}    it was handed out before, and continues after its iteration 9
//	← {"wait":true}                                  tell something first
//	← {"finished":true}
//	→ {"report":"ID","metrics":{…},"iteration":3}    an iteration that is left out is the next one
//	← {"decision":"continue"}                        after "pause" and "stop" the trial needs no tell
//	→ {"tell":"ID","metrics":{…}}                    it has ended, with these last metrics
//	→ {"tell":"ID","failed":"why"}
//	← {"ok":true}
//	← {"ok":true,"ignored":"why"}                    it had been stopped before: the metrics do not count
//	→ {"best":true}
//	← {"trial":"ID","params":{…},"metrics":{…}}      or {"best":null}
//	← {"error":"…"}                                  to anything else: nothing has happened, the session continues
//
// A trial is named by its id, as a string, or by its number. Any request may
// carry "time", the caller's clock in seconds. It replaces the real one from then on, and plugins learn which
// trials' times were told (sdk.Event.SecondsTold).
//
// NaN, Infinity and -Infinity are taken as Python writes them, bare, and as
// strings; they are written as strings. Nested metrics are joined with "/". A
// line has at most 1 MiB.
package asktell
