// Package control is how the command line steers a running host: a unix socket
// in a private directory, whose path stands in the experiment's file control.
//
// Both sides write one JSON object a line. Each request gets one answer, in
// order:
//
//	→ {"stop":{"trial":"17"}}          one trial, by number or id
//	→ {"stop":{}}                      all of them, and the experiment ends
//	→ {"pause":{}}  {"unpause":{}}     likewise
//	→ {"add":{"params":{"lr":0.1}}}    one more trial; what is missing is sampled
//	← {"ok":true}  {"ok":true,"trial":17}
//	← {"error":"why not"}
//
// An answer says that the request was recorded, not that a trial has stopped by
// then. The host calls [Listen], [Serve] and [Announce]; everybody else
// [Dial].
package control
