// Package steer is what can be done to an experiment: stop, interrupt, pause, unpause, retry,
// add, clone and set, with what is refused and why.
//
// A [Request] goes to a [Handler], and an [Answer] or an error for the user comes back. There
// are two ways: [Live] carries requests out in the host that runs the experiment, which it
// knows by a port ([Host]); [Resting] is for a directory that no host runs. The package knows
// no transport: package unixsock carries the JSON of requests ([Encode], [Decode]) over a unix
// socket, and any other transport does the same.
package steer
