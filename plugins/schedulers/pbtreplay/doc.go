// Package pbtreplay trains with a schedule of parameters, such as one found by population based
// training: at given iterations a trial continues from its checkpoint with other parameters. Use it
// to repeat the result of pbt or pb2 with another seed or more data, without the population.
//
// Source: Jaderberg and others, "Population Based Training of Neural Networks", 2017,
// https://arxiv.org/abs/1711.09846, section 4.4, replays schedules; Ray Tune has
// PopulationBasedTrainingReplay.
//
// # Making a policy
//
// `tunehost lineage DIR TRIAL --policy` prints the policy of a trial of an experiment with pbt: the
// first parameters of its first ancestor, and an entry for each change on the way to it.
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
// Each trial follows the policy independently. At an entry's iteration, or the first result beyond
// it, it is paused before it continues to train, and then continues from the checkpoint of that
// pause with the entry's parameters. If a result passes several entries they are applied at once.
// Parameters that come to exist by a change must be in the entry; those that cease to exist are
// dropped. If the entry does not result in a point of the space, the trial continues unchanged.
//
// Without a policy every trial trains to its end.
//
// # Limits
//
// It needs checkpoints. A trial that has lost all of them starts again from the beginning with its
// current parameters. The policy is part of the options: a plugin reads neither files nor the
// record of another experiment.
package pbtreplay
