// Package terminal shows an experiment to the person who started it: a table
// that is redrawn in place on a terminal, a line now and then elsewhere, and a
// summary at the end.
//
// It writes plain control sequences and reads nothing: no keyboard, no signals,
// no questions to the terminal, so that Ctrl-C is the host's alone. All text
// that trials had a hand in is cleaned of control characters.
//
// What a drawing costs does not depend on the number of trials, as long as the
// [Source] keeps to its word.
package terminal
