// Package table stores one value for each trial. For trials numbered from 0 without gaps it costs
// little more than a slice; with gaps it stays small.
package table

const pageSize = 256

// A Table has a T for each trial number. The zero value is ready to use.
type Table[T any] struct {
	pages map[uint32]*[pageSize]T
}

// At returns the trial's value, initially the zero value. The pointer stays valid.
func (t *Table[T]) At(trial uint32) *T {
	page := t.pages[trial/pageSize]
	if page == nil {
		page = t.add(trial / pageSize)
	}
	return &page[trial%pageSize]
}

func (t *Table[T]) add(number uint32) *[pageSize]T {
	if t.pages == nil {
		t.pages = map[uint32]*[pageSize]T{}
	}
	page := new([pageSize]T)
	t.pages[number] = page
	return page
}
