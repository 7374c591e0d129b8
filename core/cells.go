package core

import "github.com/tunehost/tunehost/core/stat"

// cell is one metric of one trial; next links to the following cell. Most trials that are stopped early have a single
// value, which takes less memory than a summary.
type cell struct {
	only    float64 // its value if it has one
	id      MetricID
	next    int32
	summary int32 // index in Machine.summaries plus one; 0: it has at most one value
	has     bool  // the only value
}

// valuesIn returns how many values a cell has.
func (m *Machine) valuesIn(c *cell) uint32 {
	switch {
	case c.summary != 0:
		return m.summaries.at(uint32(c.summary) - 1).Count
	case c.has:
		return 1
	}
	return 0
}

func (m *Machine) summaryOf(c *cell) (s stat.Summary) {
	switch {
	case c.summary != 0:
		return *m.summaries.at(uint32(c.summary) - 1)
	case c.has:
		s.Add(&stat.Window{}, c.only)
	}
	return s
}

// addValue adds a value to a cell; w is its window.
func (m *Machine) addValue(c *cell, w *stat.Window, x float64) {
	if c.summary != 0 {
		m.summaries.at(uint32(c.summary)-1).Add(w, x)
		return
	}
	s := m.summaryOf(c)
	s.Add(w, x)
	m.setSummary(c, s)
}

func (m *Machine) setSummary(c *cell, s stat.Summary) {
	if c.summary == 0 && s.Count <= 1 {
		c.only, c.has = s.Last, s.Count == 1
		return
	}
	if c.summary == 0 {
		m.summaries.add(s)
		c.summary = int32(m.summaries.len)
	}
	*m.summaries.at(uint32(c.summary) - 1) = s
}

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

// longList is how many cells are looked at before there is an index: the cost of a result must not grow with the
// square of its metrics.
const longList = 64

func (f *cellFinder) of(id MetricID) spot {
	next := f.after(f.last)
	switch {
	case next.cell != 0 && f.m.cell(next.cell).id == id:
		f.last = next
	case f.index == nil:
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
	for last.i < longList {
		next := f.after(last)
		switch {
		case next.cell == 0:
			return f.add(last, id)
		case f.m.cell(next.cell).id == id:
			return next
		}
		last = next
	}
	return f.indexed(id)
}

func (f *cellFinder) indexed(id MetricID) spot {
	if f.index == nil {
		f.end, f.index = spot{i: -1}, map[MetricID]spot{}
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
	if last.i < 0 {
		f.t.cells = n
	} else {
		f.m.cell(last.cell).next = n
	}
	return spot{last.i + 1, n}
}
