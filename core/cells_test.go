package core

import (
	"fmt"
	"slices"
	"testing"
)

// Each metric has one cell, in the order in which it first came, in whatever order and number results have them.
func TestCells(t *testing.T) {
	const many = 4 * longList
	for _, step := range []int{1, 5, -1} { // in order, in another, backwards
		m, row := New(), &trial{}
		var want []MetricID
		for _, n := range []int{3, longList - 2, longList + 2, many, many} {
			found := map[spot]bool{}
			cells := m.cellsOf(row)
			for i := range n {
				id := MetricID((i*step%n+n)%n + 1)
				at := cells.of(id)
				if got := m.cell(at.cell).id; got != id || found[at] {
					t.Fatalf("step %d: %v is the cell of %d, want %d; found before: %v", step, at, got, id, found[at])
				}
				found[at] = true
				if !slices.Contains(want, id) {
					want = append(want, id)
				}
				if want[at.i] != id {
					t.Fatalf("step %d: metric %d is at %d", step, id, at.i)
				}
			}
		}
		var got []MetricID
		for at := row.cells; at != 0; at = m.cell(at).next {
			got = append(got, m.cell(at).id)
		}
		if !slices.Equal(got, want) {
			t.Errorf("step %d: the list is %v, want %v", step, got, want)
		}
	}
}

// BenchmarkCells: the first result with many metrics costs as much for each metric as one with few.
func BenchmarkCells(b *testing.B) {
	for _, n := range []int{10, 100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				m, row := New(), &trial{}
				for cells, i := m.cellsOf(row), 0; i < n; i++ {
					cells.of(MetricID(i + 1))
				}
			}
		})
	}
}
