// Package pb2 is population based bandits: population based training in which the
// numbers of a trial that goes on from another's checkpoint are not moved at random
// but chosen by a model of which values have lately brought most improvement. Use it
// instead of pbt for small populations, of 4 to 8 trials, where random moves are too
// few to find anything.
//
// Source: Parker-Holder, Nguyen, Roberts, "Provably Efficient Online Hyperparameter
// Optimization with Population-Based Bandits", NeurIPS 2020,
// https://arxiv.org/abs/2002.02518; the model's time is that of Bogunovic, Scarlett,
// Cevher, "Time-Varying Gaussian Process Bandit Optimization", AISTATS 2016.
//
// The options are those of pbt, and model. resample and factors are for what the model does not
// choose.
//
// # Rules
//
// Who goes on from whom, and when, is as with pbt.
//
// Each time that a trial is compared there is an observation: how much its loss fell
// an iteration since it was compared last (or since the donor was compared that it
// went on from), at the parameters it had. The model is a Gaussian process over the
// last 60: inputs are the loss at the start of the interval and the parameters, all
// in 0..1 by their own scales; likeness decays with the square of the distance,
// and with time, as (1-ε)^(d/2) after d intervals. Falls are standardised and cut at
// two deviations. The length and ε are those of a small grid with the greatest
// likelihood.
//
// The values are those with the largest upper confidence bound, of 100 draws and
// then of 60 ever smaller moves around the best of these, for now and the donor's
// loss; the variance allows for the last ten that other trials have been given and have
// not been compared with. They stay in their bounds and on their steps. Other
// parameters change as with pbt, and while there are fewer than 4 observations all
// do. Observations without two finite losses are left out.
//
// # Limits
//
// Those of pbt. The donor's loss is that of its last comparison, which may be a little
// later than its checkpoint. An exploit costs some milliseconds, with the whole window ten or twenty:
// this is for populations of tens, not of thousands.
package pb2
