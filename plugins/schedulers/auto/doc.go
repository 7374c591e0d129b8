// Package auto learns how far early values can be trusted, and stops trials only as hard as that
// allows: hard where they order the final values, and not at all where they do not. It needs no
// options. Start with this scheduler if trials report intermediate results.
//
// Trials are compared at rungs, as in asha: Li, Jamieson, Rostamizadeh, Gonina, Ben-tzur, Hardt,
// Recht, Talwalkar, "A System for Massively Parallel Hyperparameter Tuning", MLSys 2020,
// https://arxiv.org/abs/1810.05934. That the fidelities should be weighed by how well they order the
// final values, measured while the experiment runs, is from Li, Shen, Jiang, Zhang, Li, Liu, Zhang,
// Cui, "Hyper-Tune: Towards Efficient Hyper-parameter Tuning at Scale", VLDB 2022,
// https://arxiv.org/abs/2201.06834, where it chooses brackets; here it sets how many trials a rung
// stops. The measure is Spearman's: "The Proof and Measurement of Association between Two Things",
// American Journal of Psychology 15, 1904.
//
// # Rules
//
// The rungs are the iterations 1, 3, 9, 27 and so on. A trial is recorded at the highest rung that
// its iteration has reached, if it is above its last rung, as in asha.
//
// A trial that ends otherwise than by this scheduler gives each rung below its last iteration a
// pair: its loss there and its last one. Of these, the rung computes:
//
//   - ρ, Spearman's rank correlation of the latest 200 pairs.
//   - The correction for selection: trials that were good at the rung train on more often than
//     others, so that the pairs are more alike than the trials are, and ρ is too small. With w
//     the variance of the places of all trials at the rung, divided by that of the trials with
//     pairs, in 1..6, it is ρ·√w / √(1 + ρ²(w-1)). That is Pearson's formula for selection by one
//     of two variables: "On the Influence of Natural Selection on the Variability and Correlation
//     of Organs", Philosophical Transactions A 200, 1903. It is unbiased if the final value
//     depends linearly on the early one, and if all early values have some chance to train on.
//   - For that chance, the first six trials are spared: they train to their ends whatever they
//     report. Of the others a share of 0.1/(1+i/25) is, for trial i: a tenth of the first, a
//     twentieth of those around the 25th. The seed and the trial's number determine which.
//   - The bound: an assumed ρ of 0.85, worth 4 trials, and the measured one, worth (n-3)/w trials
//     (none if n ≤ 3), have a weighted mean m, and a standard error of (1-m²)/√(the sum of the
//     weights). The bound is 1.25 standard errors below m, but not above the measured ρ; 0.68 before
//     anything is known.
//
// Of the latest 1,000 trials at the rung, including this one, the best 1-bound go on, rounded down,
// but at least two fifths of them and at least one; trials equal to the last of these go on too. With
// a bound below 0.3 all go on.
//
// A loss that is not finite is the worst. At rungs that no trial has been seen to go beyond, nothing
// is stopped, once a trial has ended.
//
// # When it does nothing
//
// It stops nothing if early values are seen not to order the final ones, if trials report once, and
// if all values are equal or missing. It says in each reason what it has seen.
//
// # Choice of the constants
//
// They were chosen on five tables of real training with the searcher random, and the share that always
// goes on with the searcher auto; bench/HISTORY.md has the figures, and what else was tried. Results
// change little around most of them. If only a fifth always went on, more trials would be stopped that
// become the best, and the searcher would have fewer complete trainings to learn from. A lower assumed
// ρ is slower where early values tell. Where they do not, it is better with the searcher auto, but not
// with random. Rungs that double lose where the order is weak. With two spared trials instead of six,
// small experiments stopped nearly everything by the assumption alone; larger ones are the same.
//
// # Limits
//
// It compares one objective. It pauses nothing, so that it needs no checkpoints, but a trial stopped
// by mistake is lost. A result at a rung costs up to 60 µs, others nothing.
package auto
