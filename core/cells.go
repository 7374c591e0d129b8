package core

// spot is a cell in a trial's list: its position, and its index plus one.
type spot struct {
	i    int
	cell int32
}

// A cellFinder finds or makes the cells of metrics in a trial's list, one after the other. It first looks
// behind the last one found: results usually have their metrics in the same order, and may have thousands.
type cellFinder struct {
	m     *Machine
	t     *trial
	last  spot
	end   spot              // of the list, once there is an index
	index map[MetricID]spot // of a long list in another order; nil: none was needed
}

func (m *Machine) cellsOf(t *trial) cellFinder { return cellFinder{m: m, t: t, last: spot{i: -1}} }

// longList is how many cells are searched with an index: the cost of a result must not grow with the square of
// its metrics.
const longList = 64

func (f *cellFinder) of(id MetricID) spot {
	next := f.after(f.last)
	switch {
	case next.cell != 0 && f.m.cell(next.cell).id == id:
		f.last = next
	case f.index == nil && f.t.metrics < longList:
		f.last = f.walk(id)
	default:
		f.last = f.indexed(id)
	}
	return f.last
}

// after returns the next place; its cell is 0 at the end.
func (f *cellFinder) after(p spot) spot {
	if p.i < 0 {
		return spot{0, f.t.cells}
	}
	return spot{p.i + 1, f.m.cell(p.cell).next}
}

func (f *cellFinder) walk(id MetricID) spot {
	last := spot{i: -1}
	for {
		next := f.after(last)
		switch {
		case next.cell == 0:
			return f.add(last, id)
		case f.m.cell(next.cell).id == id:
			return next
		}
		last = next
	}
}

func (f *cellFinder) indexed(id MetricID) spot {
	if f.index == nil {
		f.end, f.index = spot{i: -1}, make(map[MetricID]spot, f.t.metrics)
		for at := f.after(f.end); at.cell != 0; at = f.after(at) {
			f.index[f.m.cell(at.cell).id], f.end = at, at
		}
	}
	at, ok := f.index[id]
	if !ok {
		at = f.add(f.end, id)
		f.index[id], f.end = at, at
	}
	return at
}

// add appends to the end of the trial's list, so that windows stay aligned.
func (f *cellFinder) add(last spot, id MetricID) spot {
	f.m.cells.add(cell{id: id})
	n := int32(f.m.cells.len)
	f.t.metrics++
	if last.i < 0 {
		f.t.cells = n
	} else {
		f.m.cell(last.cell).next = n
	}
	return spot{last.i + 1, n}
}
