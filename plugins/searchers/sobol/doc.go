// Package sobol suggests the points of a scrambled Sobol sequence, which fill the space more evenly
// than random ones: any 2^k consecutive trials from a multiple of 2^k have one value in each of 2^k
// equal slices of every parameter.
//
// Trial n has the n-th point of the sequence, whatever the order of requests. A point that cannot
// be used (it violates a constraint, was tried already in a finite space, or the host requests the
// trial again) is replaced by a much later one of the sequence. The sequence is scrambled by the
// experiment's seed after A. B. Owen (Randomly permuted (t,m,s)-nets and (t,s)-sequences, 1995),
// with the direction numbers of S. Joe and F. Y. Kuo (2008); see
// plugins/searchers/internal/sequence. Each parameter is one dimension, whether it exists or not;
// those beyond the 256th are random.
//
// As with random, no point of a small finite space occurs twice, and the searcher is exhausted at
// the end.
//
// Use it to initialise model-based searchers, for screening, and instead of random.
package sobol
