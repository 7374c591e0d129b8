// Package pbtreplay trains by a schedule of parameters, such as one that population
// based training has found: at given iterations a training goes on from its checkpoint
// with other parameters. Use it to train anew what pbt or pb2 came to, with another
// seed or more data, without the population.
//
// Source: Jaderberg and others, "Population Based Training of Neural Networks", 2017,
// https://arxiv.org/abs/1711.09846, section 4.4, replays schedules; Ray Tune has
// PopulationBasedTrainingReplay.
//
// # Making a policy
//
// `tunehost lineage DIR TRIAL --policy` prints that of a trial of an experiment with
// pbt: the parameters that its first ancestor began with, and an entry for each change
// on the way to it.
//
//	trials: 1
//	points: [{lr: 0.1, momentum: 0.9}]
//	scheduler:
//	  plugin: pbt-replay
//	  policy:
//	    - {iteration: 10, params: {lr: 0.12}}
//	    - {iteration: 30, params: {lr: 0.08, momentum: 0.8}}
//
// # Rules
//
// Each trial follows the policy by itself. At an entry's iteration, or the first result
// beyond it, it is paused before it trains on, and goes on from the checkpoint that it
// makes then with the entry's parameters. Where a result passes several entries they are made at once.
// Parameters that come to exist by a change must be in the entry; those that cease to
// exist are dropped. Where the entry makes no point of the space of what the trial has,
// the trial goes on as it is.
//
// Without a policy every trial trains to its end.
//
// # Limits
//
// It needs checkpoints, and a trial that has lost all of them begins again with the
// parameters that it had come to. The policy is in the options as a whole: a plugin does
// not read files, nor the record of another experiment.
package pbtreplay
