// Package table keeps one value for each trial. Trials are numbered from 0
// without gaps, for which it costs little more than a slice; it stays small
// when a history has gaps all the same.
package table

const pageSize = 256

// Table has a T for each trial number. The zero value is ready.
type Table[T any] struct {
	pages map[uint32]*[pageSize]T
}

// At returns the trial's value, the zero value at first. The pointer stays
// valid.
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
