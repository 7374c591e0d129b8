// Package grid suggests every combination of the parameters' values, in a fixed
// order: the last parameter changes fastest. Choices and whole or stepped numbers
// have all their values; a continuum has as many as the option resolution says,
// evenly spaced from end to end, on a logarithmic scale where the parameter has
// one; of a normal distribution these are quantiles. Parameters that do not exist
// are not crossed, and combinations that break a constraint are left out.
//
// It never suggests a point that was tried, whoever suggested it, and is exhausted
// at the end. Given coordinates (the host's grid axes, points of the user) are
// kept, and the others crossed for each of them apart. Where they leave a single
// point it is suggested as often as asked; where a user fixed more than the host's
// axes the grid around that starts over at its end.
//
// Use it for small spaces that must be covered; with more than two or three
// parameters other searchers find more with fewer trials.
package grid
