// Package table stores one value for each trial. For trials numbered from 0 without gaps it costs
// little more than a slice; with gaps it stays small.
package table

const (
	pageSize = 256
	// listed is how many pages are found in a list, which is faster than a map. Few experiments have more trials, apart
	// from those of other experiments, which have the highest numbers.
	listed = 1 << 12
)

// A Table has a T for each trial number. The zero value is ready to use.
type Table[T any] struct {
	list []*[pageSize]T // of the first pages; nil: it has no trial yet
	rest map[uint32]*[pageSize]T
}

// At returns the trial's value, initially the zero value. The pointer stays valid.
func (t *Table[T]) At(trial uint32) *T {
	number := trial / pageSize
	if int(number) < len(t.list) && t.list[number] != nil {
		return &t.list[number][trial%pageSize]
	}
	return &t.page(number)[trial%pageSize]
}

// page finds or makes a page that is not in the list yet.
func (t *Table[T]) page(number uint32) *[pageSize]T {
	if number < listed {
		if grown := int(number) + 1; grown > len(t.list) {
			t.list = append(t.list, make([]*[pageSize]T, grown-len(t.list))...)
		}
		t.list[number] = new([pageSize]T)
		return t.list[number]
	}
	page := t.rest[number]
	if page == nil {
		page = new([pageSize]T)
		if t.rest == nil {
			t.rest = map[uint32]*[pageSize]T{}
		}
		t.rest[number] = page
	}
	return page
}
