// Package terminal shows an experiment to the user who started it: a table that is redrawn in place on
// a terminal, single lines elsewhere, and a summary at the end.
//
// It writes plain control sequences and reads nothing: no keyboard, no signals, no questions to the
// terminal, so that Ctrl-C goes to the host. Text that trials can influence is cleaned of control
// characters.
//
// The cost of a drawing does not depend on the number of trials, as long as the [Source] follows its
// contract.
package terminal
