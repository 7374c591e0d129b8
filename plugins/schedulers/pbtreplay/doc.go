// Package pbtreplay trains by a schedule of parameters, such as one that population
// based training has found: at given iterations a training goes on from its checkpoint
// with other parameters. Use it to train anew what pbt or pb2 came to, with another
// seed or more data, without the population.
//
// Source: Jaderberg and others, "Population Based Training of Neural Networks", 2017,
// https://arxiv.org/abs/1711.09846, section 4.4, replays schedules; Ray Tune has
// PopulationBasedTrainingReplay.
//
// # Options
//
//   - policy (none): a list of {iteration, params}: from that iteration on these
//     parameters change, and the others stay.
//
// # Making a policy
//
// The schedule of a trial is told by what it went on from, backwards: from the trial
// that did best, to the donor and iteration of its last exploit, to the donor's last
// exploit before that iteration, and so on to the first trial. The record has each
// exploit as a command with its donor, iteration and parameters. An entry for each one
// in that chain, with the iteration and the parameters that the trial went on with, is
// the policy; the parameters of the first trial begin:
//
//	trials: 2
//	points: [{lr: 0.1, momentum: 0.9}, {lr: 0.1, momentum: 0.9}]
//	scheduler:
//	  plugin: pbt-replay
//	  options:
//	    policy:
//	      - {iteration: 10, params: {lr: 0.12}}
//	      - {iteration: 30, params: {lr: 0.08, momentum: 0.8}}
//
// # Rules
//
// A trial can go on from another trial's checkpoint only, so that each training takes
// two trials: 0 and 1, 2 and 3, and so on. The first begins; the second is paused at
// its first result. At an entry's iteration (the first result at or beyond it) the one
// that trains is paused, and the other goes on from its checkpoint with the entry's
// parameters; at the next entry they change again. After the last entry the one that
// does not train any more is stopped.
//
// When one of the two ends before its time, the other is not waited with: it goes on
// with the parameters that it has if it is the one that trains, and is stopped else.
// Without a policy every trial trains to its end.
//
// # Limits
//
// It needs checkpoints, an even number of trials, and one iteration of each second
// trial that serves nothing. The policy is in the options as a whole: a plugin does not
// read files, nor the record of another experiment.
package pbtreplay
