// Package stat summarises the reported values of each metric of a trial in a few numbers, and
// orders metric values. It is the only package of the core that computes with metrics.
//
// # Values that are not finite
//
// First and Last are the reported values, including NaN and infinities. Min and Max ignore NaN and
// are NaN only if nothing else was reported; infinities count. The means use only finite values and
// are NaN if there are none, so that one diverged step does not hide all others. In comparisons,
// every value that is not finite is worse than every finite one; see [Compare].
//
// # The same numbers on every machine
//
// On some machines the compiler may fuse a product and a sum into one instruction, which rounds
// once instead of twice. An explicit conversion prevents this, so every intermediate result here is
// converted. Means are computed without a plain sum: they do not overflow, and the mean of equal
// values is that value.
package stat
