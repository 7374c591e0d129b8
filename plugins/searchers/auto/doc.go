// Package auto delegates to the other searchers, each where it is good. Start with this searcher.
// It chooses by the space, the number of objectives and the number of ended trials, and needs no
// options.
//
// # Rules
//
// The first matching rule applies. The counts are numbers of parameters with more than one value:
//
//	none but grids    random: the host combines the values of grids itself
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
// A trial has ended when it completed, failed or paused, or was removed with a result. The trial's
// number determines whose turn it is.
//
// In spaces that a choice divides, with one objective, as long as gp has turns: while the last 10 ended trials were
// not better than the best one, two suggestions in four are tpe's for a given branch. A choice divides a space if
// it has two values, each with a parameter that the other lacks. A choice among models is like that. A branch is a
// value of a choice that other parameters depend on, and it is chosen by the number of its trials. If the best loss
// of a branch has place k among those of the choice's values, and the branch has p parameters, its share of the
// trials should be proportional to (p+1)/k. The value that is farthest below its share is next; a value without
// trials comes before all others. Choices that exist only with this value are then given values in the same way. If
// several choices always exist, they take turns.
//
// If a scheduler stops trials early, two suggestions in three are gp's and the third tpe's from the first
// such trial on; all are tpe's with several objectives, and where gp has no turns any more. Then no turns
// are for branches.
//
// # Reasons
//
//   - Up to some hundred trials, gp needs the fewest. But it relies on one model, and if that
//     model is wrong (many minima, noise, branches that look bad at first) it stays wrong for
//     long. tpe makes no such assumption and learns from the same trials, and gp learns from
//     those of tpe. The fourth suggestion costs little if gp is right: normalised regret over 39
//     public problems (0 the best known, 1 random search) is 0.28 for gp alone, 0.30 for tpe and
//     0.22 for this mixture; with equal turns it was 0.23. Differences of less than 0.03 are
//     noise. Those are figures of gp 1.2. Those of gp 1.6 are 0.18 for gp alone, 0.30 for tpe and 0.15
//     for auto; bench/RESULTS.md has the tables.
//   - With conditions, gp can spend all trials in a branch in which nothing is left to gain, because
//     a branch with many parameters looks bad at first. The rule is a form of best-arm search (Y. Li
//     and others, Efficient Automatic CASH via Rising Bandits, 2020), without eliminations and
//     without a known number of trials. tpe has these turns because gp's model of a branch with few
//     trials is mostly one of the others. Mean normalised regret over eight trees of conditions that
//     the rule was not chosen with: 0.27, and 0.47 without it.
//   - While trials are stopped early, gp learns from those that came far, and tpe also from what was
//     stopped (their pages say how). If tpe has all turns, regret is a tenth larger. Whether gp has one
//     turn in two, two in three or three in four makes little difference with the scheduler auto; with
//     asha, two in three are better than one in two. bench/HISTORY.md has the figures.
//   - gp's model has at most 250 trials. A suggestion then costs 6 ms with 10 parameters, and
//     more with each parameter. This is too much for many parameters, and for trials so cheap
//     that there are thousands. cmaes keeps what it learns; it uses all other searchers' trials
//     from the start, and needs numeric parameters. tpe has no such requirement.
//   - The cost of evolution does not depend on the number of parameters, while a suggestion of
//     tpe may cost tens of milliseconds.
//   - nsga2 keeps a front of many trials at no cost; with more than three objectives nearly all
//     trials are in the front.
//
// The planned number of trials and the concurrency have no influence: measurements with 8 and 16
// parallel trials have the same order, and users extend experiments. In a finite space no point
// occurs twice, whichever searcher suggests. All points are tried in the end, the promising ones
// first, so small spaces need no rule.
//
// # Time
//
// With the option cost, gp's suggestions prefer points that are quick; those of the others do not. In a given time,
// cost 1 gains a little with the scheduler auto: a quarter of the regret where the parameters decide most about the
// time. With fifo it gains nothing that is certain in spaces of models. bench/HISTORY.md has the figures.
//
// Unless it is set, it is 1 for times that were told with the results (Event.SecondsTold), with one objective and
// while trials are stopped early, and 0 otherwise: measured times differ from run to run, so that the same seed
// would give other suggestions. The model of time is made only of the trials whose times were told.
//
// # Log
//
// It logs its choice when it is opened and when a phase begins, in the experiment's host.log:
//
//	auto: 5 parameters (1 choices) with conditions: gp until 10 trials have ended, then ...
//
// # Cost
//
// All searchers of the plan receive all events from the start, so that a restarted searcher
// continues with the same bits. Searchers that no later phase needs are dropped. Events cost about
// as much as those of tpe and cmaes together, some 30 µs per trial.
//
// # Limits
//
// gp's cost is the only option of a member that can be set; to set others, use that searcher itself. With more than
// 500 parameters, or once nsga2 or the last phase has begun, early stops change nothing, and last losses are
// compared.
package auto
