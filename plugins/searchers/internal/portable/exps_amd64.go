package portable

import "golang.org/x/sys/cpu"

// vectors reports whether the processor has instructions for four numbers at a time (AVX2). They round like those for
// one number, so the bits are the same.
var vectors = cpu.X86.HasAVX2

// factors are the constants of Exp, in the order of their use: the limits, 1/(ln 2/parts), and so on.
var factors = [...]float64{least, most, perPart, 0.5, partHi, partLo, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1}

//go:noescape
func exps(x *float64, n int, powers, factors *float64)

// expsOfFour is Exps for the first n numbers.
func expsOfFour(x []float64) (n int) {
	if !vectors || len(x) < 4 {
		return 0
	}
	n = len(x) &^ 3
	exps(&x[0], n, &powers[0], &factors[0])
	return n
}
