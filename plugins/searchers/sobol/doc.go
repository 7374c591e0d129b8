// Package sobol suggests the points of a scrambled Sobol sequence, which fill the
// space more evenly than random ones: any 2^k trials in a row from a multiple of
// 2^k have one value in each of 2^k equal slices of every parameter.
//
// Trial n has the n-th point of the sequence, whoever asked for the others and in
// whatever order; a point that is not wanted (it breaks a constraint, was tried
// already in a finite space, or the host asks for the trial again) gives way to
// one from far on in the sequence. The sequence is scrambled by the experiment's
// seed after A. B. Owen (Randomly permuted (t,m,s)-nets and (t,s)-sequences,
// 1995), with the direction numbers of S. Joe and F. Y. Kuo (2008); see
// plugins/searchers/internal/sequence. Each parameter is one dimension, whether it
// exists or not; those beyond the 256th are random.
//
// As with random, small finite spaces have no point twice, and end.
//
// Use it to start model-based searchers, for screening, and in place of random.
package sobol
