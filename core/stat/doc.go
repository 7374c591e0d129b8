// Package stat keeps, for each metric of a trial, what has been reported so
// far in a few numbers, and orders metric values. It is the core's only place
// that computes with metrics.
//
// # Values that are not finite
//
// NaN and infinities are values like others where a value is only repeated:
// First and Last are what was reported. Min and Max pass over NaN and are NaN
// only while nothing else was reported; infinities count there. The means are
// over finite values alone, and NaN when there is none, so that one diverged
// step does not hide all others. Where metrics are compared, see [Compare],
// every value that is not finite is worse than every finite one.
//
// # The same numbers on every machine
//
// The compiler may fuse a product and a sum into one instruction on some
// machines, which rounds once instead of twice. An explicit conversion forbids
// it, so every intermediate result here is converted. Means are formed without
// a plain sum: they do not overflow, and the mean of equal values is that value.
package stat
