// Package grid suggests every combination of the parameters' values, in a fixed order: the last
// parameter changes fastest. Choices, integers and stepped numbers have all their values. A
// continuous parameter has as many values as the option resolution says, evenly spaced from end to
// end, on a logarithmic scale if the parameter has one; for a normal distribution these are
// quantiles. Parameters that do not exist are not combined, and combinations that violate a
// constraint are left out.
//
// It never suggests a point that was tried, no matter who suggested it, and is exhausted at the end.
// Trials take the combinations of the space's grid axes in turn. One whose points were all tried
// is passed over: conditions and constraints leave some with fewer points than others, or without any.
// Where there is nothing else to combine, each combination runs once before one runs again, without an
// end; trials of others count.
//
// Given coordinates (grid axes fixed by a host, points of the user) are kept, and the others are
// combined for each of them separately. If they leave a single point, it is suggested as often as
// requested. If a user fixed more than the grid axes, the grid around that point starts again at
// its end.
//
// Use it for small spaces that must be covered; with more than two or three parameters other
// searchers need fewer trials.
package grid
