// Package view reads experiments: their status, trials, best trials and results, while they run, after
// they have ended, and after a crash (B-124).
//
//	e, err := view.Open("results/digits")
//	best, ok, err := e.Best(view.Query{})
//
// An experiment's journal is the only source; Open runs it through a machine of its own, and Refresh
// adds what was recorded since. Reading locks and writes nothing, so that a running host does not
// notice. The command line, the HTTP API and exports read experiments through this package.
//
// [Best] and [Front] rank the trials of any machine, also the host's own, so that all of them name the
// same trial.
package view
