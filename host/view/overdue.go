package view

import (
	"slices"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/deadlines"
)

// Overdue is a plugin that owes an answer, and is late with it.
type Overdue struct {
	// Kind is searcher or scheduler.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Seconds is how long ago it was asked, in running time.
	Seconds float64 `json:"seconds"`
}

// questions notes when plugins were asked, in running time.
type questions struct {
	asked   int64
	results []question
}

// question is a result that needs a decision.
type question struct {
	number uint64
	at     int64
}

// noteQuestion notes a question to a plugin, and drops those that are answered.
func (s *State) noteQuestion(a core.Action) {
	q, now := &s.questions, s.Machine.Now()
	switch a := a.(type) {
	case core.AskSearcher:
		q.asked = now
	case *core.Tell:
		if !a.Observation.Due {
			return
		}
		n := 0
		for n < len(q.results) && !s.Machine.AwaitsDecision(q.results[n].number) {
			n++
		}
		q.results = append(slices.Delete(q.results, 0, n), question{a.Observation.Number, now})
	}
}

// overdue returns the plugins that have not answered for longer than the host waits before it warns.
func (s *State) overdue(elapsed time.Duration) (list []Overdue) {
	add := func(kind, name string, c deadlines.Call, at int64) {
		if waited := elapsed - time.Duration(at); waited > deadlines.Notice(s.Config.Deadlines.Of(c)) {
			list = append(list, Overdue{kind, name, waited.Seconds()})
		}
	}
	if s.Machine.Asked() {
		add("searcher", s.Config.Searcher.Name, deadlines.Suggest, s.questions.asked)
	}
	for _, q := range s.questions.results {
		if s.Machine.AwaitsDecision(q.number) {
			add("scheduler", s.Config.Scheduler.Name, deadlines.Decide, q.at)
			break
		}
	}
	return list
}
