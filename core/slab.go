package core

// A slab is a list that is never copied when it grows, so that a million rows are not moved again and again. Only its
// first page grows as a slice does, so that a small experiment takes little memory.
type slab[T any] struct {
	pages [][]T
	len   int
}

// pageRows is a power of two: the compiler divides by it with a shift.
const pageRows = 1024

// at returns the i-th row. It may move at the next call of add.
func (s *slab[T]) at(i uint32) *T { return &s.pages[i/pageRows][i%pageRows] }

func (s *slab[T]) add(row T) {
	p := s.len / pageRows
	if p == len(s.pages) {
		var page []T
		if p > 0 {
			page = make([]T, 0, pageRows)
		}
		s.pages = append(s.pages, page)
	}
	s.pages[p] = append(s.pages[p], row)
	s.len++
}

// trial returns the row of a trial.
func (m *Machine) trial(no TrialNo) *trial { return m.trials.at(uint32(no)) }

// cell returns the cell with an index plus one, as trials and cells have it.
func (m *Machine) cell(next int32) *cell { return m.cells.at(uint32(next) - 1) }
