// Package core is the experiment as a state machine: a function from what happened to what to do next.
//
// [Machine.Apply] takes one [Event] and returns [Action]s. The same events always give the same
// actions: the package has no clock, no randomness, no goroutine, no file and no logger. The engine
// (host/engine) records each event before it applies it, and carries out the actions afterwards; to
// resume is to apply the record again.
//
// Read the stories in testdata first: each shows one behaviour as events and the resulting actions.
// Then read event.go, action.go, trial.go and cause.go, which define the vocabulary, and machine.go,
// which defines the order of a step.
package core
