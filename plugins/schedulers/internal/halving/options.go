package halving

import "fmt"

// MaxIterations keeps the sizes of brackets far within 64 bits.
const MaxIterations = 1 << 53

// Check says what is wrong with the options max and reduction_factor, if anything.
func Check(most, factor uint64) error {
	switch {
	case most < 1 || most > MaxIterations:
		return fmt.Errorf("option max: %d is not in 1..2^53", most)
	case factor < 2 || factor > MaxIterations:
		return fmt.Errorf("option reduction_factor: %d is not in 2..2^53", factor)
	}
	return nil
}
