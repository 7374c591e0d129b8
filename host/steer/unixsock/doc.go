// Package unixsock is how the command line steers a running host: a unix socket
// in a private directory. The experiment's file control has its path.
//
// Both sides write one JSON object a line. Each request gets one answer, in
// order:
//
//	→ {"stop":{"trial":"17"}}          one trial, by number or id
//	→ {"stop":{}}                      all of them, and the experiment ends
//	→ {"pause":{}}  {"unpause":{}}     likewise
//	→ {"pause":{"force":true}}         also where progress is lost by it
//	→ {"interrupt":{}}                 the host ends, and the experiment can continue later
//	→ {"retry":{"trial":"17"}}         a trial in ERROR runs again; "fresh":true: in a
//	                                   new directory
//	→ {"add":{"params":{"lr":0.1}}}    one more trial; what is missing is sampled
//	← {"ok":true}  {"ok":true,"trial":17}
//	← {"error":"why not"}
//	← {"error":"what would be lost","loses":true}
//
// A request may say until when it is carried out, by the machine's monotonic clock (on
// Linux): {"before":123,"request":{"stop":{}}}. Clients send them so, and give up later.
//
// An answer says that the request was recorded, not that a trial has stopped by
// then. The host calls [Listen], [Serve] and [Announce]; everybody else
// [Dial].
package unixsock
