// Package random suggests points drawn from the space's own distributions: the baseline for
// the other searchers.
//
// Each suggestion depends only on its request's seed, with one exception: in a finite space of at
// most 65,536 points none is suggested twice, and when all have been tried the searcher is
// exhausted. The exception does not apply
//
//   - with the option repeats,
//   - if the request leaves no other point (grid axes that the host combines, points of the
//     user) or nothing can be chosen at all,
//   - in spaces with conditions that only the host can check.
//
// Read it first if you want to write a searcher: it is small.
package random
