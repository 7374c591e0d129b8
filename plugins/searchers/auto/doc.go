// Package auto lets the other searchers suggest, each where it is good: the one to begin
// with. It chooses by the space, the number of objectives and how many trials have
// ended; nothing has to be set.
//
// # Rules
//
// The first that fits, for the parameters that can vary:
//
//	more than 500     evolution
//	more than 60      tpe
//	others            gp until 10 trials have ended; then three suggestions in four are
//	                  gp's and the fourth tpe's; after 250 trials:
//	  one objective, at most half of the parameters choices, no conditions
//	                  cmaes, gp, cmaes, tpe in turn; after 1,000 trials three in four are
//	                  cmaes's and the fourth tpe's
//	  one objective   gp and tpe in turn; after 1,000 trials tpe
//	  two or three    nsga2
//	  more            tpe
//
// A trial has ended when it is complete, failed or paused, or was removed with a
// result. A searcher's turn follows from the trial's number.
//
// # Reasons
//
//   - Up to some hundred trials gp needs the fewest of all. But it believes in one
//     model, and where that is wrong (many minima, noise, branches that look bad at
//     first) it is wrong for long. tpe believes nothing of the sort and learns from
//     the same trials, gp from those of tpe. The fourth suggestion costs little where
//     gp is right: normalised regret over 39 public problems (0 the best known, 1
//     random search) is 0.28 for gp alone, 0.30 for tpe and 0.22 as it is here; in turn
//     it was 0.23, and differences of less than 0.03 are noise. bench/RESULTS.md has
//     the tables.
//   - gp's model has at most 250 trials, and a suggestion then costs 23 ms with 10
//     parameters and more with each: for many parameters, and for trials so cheap that
//     there are thousands, that is too much. What cmaes learns lasts; it counts
//     all the others' trials from the first, and needs numbers. tpe has no such needs.
//   - evolution does not care how many parameters there are, where a suggestion of tpe
//     costs tens of milliseconds.
//   - nsga2 keeps a front of many trials at no cost; in more than three objectives
//     nearly everything is a front.
//
// How many trials are planned, or run at a time, changes nothing: what was measured
// with 8 and 16 at a time has the same order, and a plan that ends early is a plan that
// the user extends. In a finite space no point comes twice, whoever suggests; all are
// tried in the end, the promising ones first, so that small spaces need no rule of
// their own.
//
// # What it chose
//
// It says so when it is opened and when a phase begins, in the experiment's host.log:
//
//	auto: 5 parameters (1 choices) with conditions: gp until 10 trials have ended, then ...
//
// # Cost
//
// All searchers of the plan are told everything from the first, so that nobody has to
// be told later and a restarted one goes on with the same bits; those that no later
// phase needs are dropped. Events cost about what they cost tpe and cmaes, some
// 30 µs a trial.
//
// # Limits
//
// Options of the searchers cannot be set: use one of them instead. Multi-fidelity
// schedulers are not known to it: with hyperband, bohb models budgets.
package auto
