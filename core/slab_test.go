package core

import "testing"

// Rows keep their values and, behind the first page, their places while a slab grows.
func TestSlab(t *testing.T) {
	var s slab[int]
	for i := range 3 * pageRows {
		s.add(i)
	}
	last := s.at(3*pageRows - 1)
	kept := s.at(pageRows)
	s.add(-1)
	for i := range 3 * pageRows {
		if got := *s.at(uint32(i)); got != i {
			t.Fatalf("row %d is %d", i, got)
		}
	}
	if s.len != 3*pageRows+1 || s.at(3*pageRows-1) != last || s.at(pageRows) != kept {
		t.Errorf("%d rows, or some have moved", s.len)
	}
}

// The memory of a step's observations serves the next step. After a step with very many it is given back.
func TestTellsAreUsedAgain(t *testing.T) {
	m := New()
	m.say(&Observation{Kind: SawAdded, Trial: 1})
	first := m.actions[0].(*Tell)
	m.forgetActions()
	for no := range TrialNo(maxKeptActions + 1) {
		m.say(&Observation{Kind: SawAdded, Trial: no})
	}
	if first.Observation.Number != 2 {
		t.Errorf("the first observation of the next step is not in the memory of the last one: %+v", first.Observation)
	}
	for no, a := range m.actions {
		if got := a.(*Tell).Observation; got.Trial != TrialNo(no) || got.Number != uint64(no)+2 {
			t.Fatalf("observation %d is %+v", no, got)
		}
	}
	m.forgetActions()
	if cap(m.actions) > 0 || cap(m.tells) > 0 {
		t.Error("the memory of a long list is kept")
	}
}
