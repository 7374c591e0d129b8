// Package steer is what can be done to an experiment that a host runs: stop, interrupt,
// pause, unpause, retry, add and clone, with what is refused and why. It knows a host by a
// port ([Host]) and no transport: package control carries requests over a unix socket, and
// any other way to ask calls the same methods.
package steer
