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

// owed is an answer that a plugin has not given yet.
type owed struct {
	kind, name string
	// at is when it was asked, in running time, late after how long it is overdue.
	at, late time.Duration
}

// owed returns the answers that plugins have not given yet.
func (s *State) owed() (list []owed) {
	add := func(kind, name string, c deadlines.Call, at int64) {
		list = append(list, owed{kind, name, time.Duration(at), deadlines.Notice(s.Config.Deadlines.Of(c))})
	}
	if s.Machine.Asked() {
		add(searcher, s.Config.Searcher.Name, deadlines.Suggest, s.questions.asked)
	}
	for _, q := range s.questions.results {
		if s.Machine.AwaitsDecision(q.number) {
			add("scheduler", s.Config.Scheduler.Name, deadlines.Decide, q.at)
			break
		}
	}
	return list
}

const searcher = "searcher"

// briefly is how long a searcher that is asked while no trial runs is given before the experiment is said to wait.
const briefly = 2 * time.Second

// pass lets time pass up to a running time, in which nothing happens. How much is left is not known while a plugin
// keeps an answer to itself, because it works, hangs, or fails and is started again.
func (s *Status) pass(elapsed time.Duration) {
	s.Elapsed, s.Left, s.Overdue = elapsed, s.Left.after(elapsed), nil
	for _, o := range s.owed {
		waited := elapsed - o.at
		if waited > o.late {
			s.Overdue = append(s.Overdue, Overdue{o.kind, o.name, waited.Seconds()})
		}
		idle := s.Counts[core.Running]+s.Counts[core.Pending] == 0 && s.Ending == "" && !s.Paused
		if o.kind == searcher && waited > briefly && idle {
			s.Waiting = "no trial runs until searcher " + o.name + " answers"
		}
	}
	if s.Waiting != "" || len(s.Overdue) > 0 {
		s.Left = Left{}
	}
}
