// Package life is a state machine for the life of one attempt, from making the attempt's directory
// to keeping its models. It is a pure function from events (what has happened to the attempt) to
// actions (what its driver must do). It uses no clock, process or file.
//
// state.go defines the states and the moves between them. table.go says what each event does in
// each state. The stories in testdata show whole lives; start with testdata/one_attempt.txt.
package life
