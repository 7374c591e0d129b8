package view

import (
	"math"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
)

// Standing finds the best trial again and again while an experiment runs. It keeps what is known of the trials that
// have ended, and looks at the others only. It is for one machine, and for one goroutine at a time.
type Standing struct {
	objective core.Objective
	// revived is the machine's count when the rest was valid, seen how many trials were looked at.
	revived uint64
	seen    core.TrialNo
	// open are the first runs of suggestions that have not ended, in order.
	open []core.TrialNo
	// best is the best of those that have ended, early how many trials were ended before their own end.
	best  leader
	early int
	// unranked counts those that have ended with a value that is not finite.
	unranked unranked
	// values are those of the trials that have ended, by number, where each suggestion has one run; NaN: there is none.
	values []float64
}

// leader is the best trial of some; ok is false if none has a finite value.
type leader struct {
	no core.TrialNo
	measured
	ok bool
}

// take lets a trial be the leader if it is better, or as good and an earlier one.
func (l *leader) take(no core.TrialNo, x measured, mode stat.Mode) {
	if !finite(x.value) {
		return
	}
	if !l.ok || stat.Better(x.value, l.value, mode) || no < l.no && !stat.Better(l.value, x.value, mode) {
		*l = leader{no, x, true}
	}
}

// Best returns what [Best] does by the trials' last values.
func (k *Standing) Best(m *core.Machine, o core.Objective) (no core.TrialNo, value float64, ok bool) {
	best := k.find(m, o)
	return best.no, best.value, best.ok
}

func (k *Standing) find(m *core.Machine, o core.Objective) leader {
	if m.Revived() != k.revived || o != k.objective {
		*k = Standing{objective: o, revived: m.Revived()}
	}
	_, runs := m.Runs(0)
	for ; int(k.seen) < m.Trials(); k.seen += core.TrialNo(runs) {
		k.open = append(k.open, k.seen)
	}
	all := k.open
	k.open = k.open[:0]
	var others leader
	for _, no := range all {
		to := &k.best
		if !k.ended(m, no, runs) {
			k.open = append(k.open, no)
			to = &others
		}
		x, reported := Last.measured(m, no, runs, o)
		if reported {
			to.take(x.no, x, o.Mode)
		}
		if to == &k.best && runs == 1 {
			k.keep(no, x.value, reported)
		}
	}
	best := k.best
	if others.ok {
		best.take(others.no, others.measured, o.Mode)
	}
	return best
}

// keep keeps the value of a trial that has ended.
func (k *Standing) keep(no core.TrialNo, value float64, reported bool) {
	for int(no) >= len(k.values) {
		k.values = append(k.values, math.NaN())
	}
	if reported {
		k.values[no] = value
	}
}

// values returns what gives the value of a suggestion, as scope.measured does. Of trials that have ended it is known
// where the best one is, too.
func (s *State) values(o core.Objective, scope Scope) func(first core.TrialNo) (value float64, ok bool) {
	m := s.Machine
	_, runs := m.Runs(0)
	known := scope == Last && runs == 1 && o == s.Objectives()[0]
	if known {
		s.standing.find(m, o)
	}
	return func(first core.TrialNo) (float64, bool) {
		if known && m.State(first).Final() {
			value := s.standing.values[first]
			return value, !math.IsNaN(value)
		}
		x, ok := scope.measured(m, first, runs, o)
		return x.value, ok
	}
}

// stoppedEarly counts the trials that were ended before their own end, as of the last look.
func (k *Standing) stoppedEarly(m *core.Machine) int {
	_, runs := m.Runs(0)
	n := k.early
	for _, no := range k.open {
		n += earlyOf(m, no, runs)
	}
	return n
}

// ended reports whether all runs of a suggestion have ended, and counts those that were ended early then.
func (k *Standing) ended(m *core.Machine, first core.TrialNo, runs int) bool {
	for no := first; no < first+core.TrialNo(runs); no++ {
		if int(no) >= m.Trials() || !m.State(no).Final() {
			return false
		}
	}
	k.early += earlyOf(m, first, runs)
	for no := first; no < first+core.TrialNo(runs); no++ {
		k.unranked.add(m, no)
	}
	return true
}

// earlyOf counts the runs of a suggestion that were ended before their own end. Those that never started are apart.
func earlyOf(m *core.Machine, first core.TrialNo, runs int) (n int) {
	for no := first; no < min(first+core.TrialNo(runs), core.TrialNo(m.Trials())); no++ {
		if m.State(no) != core.Terminated {
			continue
		}
		if v := m.View(no); isEarly(&v) {
			n++
		}
	}
	return n
}
