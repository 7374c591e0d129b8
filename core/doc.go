// Package core is the experiment as a state machine: a function from what
// happened to what to do next.
//
// [Machine.Apply] takes one [Event] and returns [Action]s. The same events give
// the same actions, always: the package has no clock, no randomness, no
// goroutine, no file and no logger. Whoever turns the loop (host/loop.go)
// records each event before it is applied and carries the actions out after;
// resuming is applying the record again.
//
// Read the stories in testdata first: each tells one behaviour as events and
// the actions that they cause. Then event.go, action.go, trial.go and
// cause.go, which hold the vocabulary, and machine.go, which holds the order of a step.
package core
