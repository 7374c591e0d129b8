// Package life is the life of one attempt as a state machine, from the attempt's directory to
// its models. It is a pure function from events (what has happened to the attempt) to actions
// (what its driver must do), and uses no clock, process or file.
//
// state.go has the states and the moves between them. table.go has what each event does in each
// state. The stories in testdata show whole lives; start with testdata/one_attempt.txt.
package life
