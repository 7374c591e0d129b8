package table

import (
	"math"
	"testing"
)

func TestValuesAreApart(t *testing.T) {
	var table Table[int]
	numbers := []uint32{0, 1, pageSize - 1, pageSize, 9 * pageSize, listed*pageSize - 1, listed * pageSize,
		math.MaxUint32}
	for i, n := range numbers {
		*table.At(n) = i + 1
	}
	for i, n := range numbers {
		if got := *table.At(n); got != i+1 {
			t.Errorf("trial %d has %d, want %d", n, got, i+1)
		}
	}
	if *table.At(2) != 0 {
		t.Error("a new trial has no zero value")
	}
}
