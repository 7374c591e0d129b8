// Package pb2 is population based bandits: population based training in which a model, instead of
// random moves, chooses the numbers of a trial that continues from another's checkpoint. The model
// predicts which values bring the largest improvement. Use it instead of pbt for small populations,
// of 4 to 8 trials, for which random moves are too few.
//
// Source: Parker-Holder, Nguyen, Roberts, "Provably Efficient Online Hyperparameter Optimization
// with Population-Based Bandits", NeurIPS 2020, https://arxiv.org/abs/2002.02518; the time
// dependence is that of Bogunovic, Scarlett, Cevher, "Time-Varying Gaussian Process Bandit
// Optimization", AISTATS 2016.
//
// The options are those of pbt, and model. resample and factors apply to parameters that the model
// does not choose.
//
// # Rules
//
// The rules for which trial continues from which, and when, are those of pbt.
//
// Each comparison of a trial gives an observation: the decrease of its loss per iteration since its
// last comparison (or since that of the donor from which it continued), at its parameters. The
// model is a Gaussian process over the last 60 observations: inputs are the loss at the start of
// the interval and the parameters, all in 0..1 by their own scales. The covariance decreases with
// the square of the distance, and with time, as (1-ε)^(d/2) after d intervals. Decreases are
// standardised and cut at two standard deviations. The length and ε are the most likely ones of a
// small grid.
//
// The values are those with the largest upper confidence bound, of 100 draws and then of 60
// decreasing moves around the best of these, for the current time and the donor's loss; the
// variance accounts for the last ten points that other trials use and that were not compared yet.
// Values stay in their bounds and on their steps. Other parameters change as with pbt, and so do
// all with fewer than 4 observations. Observations without two finite losses are ignored.
//
// # Limits
//
// The limits are those of pbt. The donor's loss is that of its last comparison, which may be a
// little later than its checkpoint. An exploit costs some milliseconds, with a full window ten or
// twenty: this suits populations of tens, not of thousands.
package pb2
