// Package random suggests points drawn from the space's own distributions. It is
// the default searcher, and what others are measured against.
//
// Each suggestion depends on its request's seed and on nothing else, but for one
// rule: in a finite space of at most 65,536 points none is suggested twice, and
// when all have been tried the searcher is exhausted. The rule does not hold
//
//   - with the option repeats,
//   - where the request leaves no other point (grid axes that the host crosses,
//     points of the user) or there is nothing to choose at all,
//   - in spaces with conditions that only the host can check.
//
// Authors of searchers should read it first: it is about as small as one gets.
package random
