package view

import (
	"github.com/tunehost/tunehost/core"
)

// OutOfTime reports whether an experiment has used up its time budget: to continue it needs a larger
// one.
func (s *Status) OutOfTime() bool { return s.Budget > 0 && s.Elapsed-s.Uncounted >= s.Budget }

// OutOfFailures reports whether as many trials are in ERROR as the experiment allows: to continue it needs a larger
// limit, unless they run again.
func (s *Status) OutOfFailures() bool { return s.Failures > 0 && s.Counts[core.Errored] >= s.Failures }

// Limit is a budget that is used up.
type Limit struct {
	// Key is its key in the file, Name what it is called, More what a larger one gives.
	Key, Name, More string
	// Failed: it limits failed trials, which no longer count when they run again.
	Failed bool
}

// Set is what raises it on the command line.
func (l Limit) Set() string { return l.Key + "=LIMIT" }

// UsedUp are the budgets that must be larger before anything continues.
func (s *Status) UsedUp() (list []Limit) {
	if s.OutOfTime() {
		list = append(list, Limit{Key: "budget.time", Name: "time budget", More: "more time"})
	}
	if s.OutOfFailures() {
		list = append(list, Limit{"budget.trials_failed", "budget of failed trials", "a higher limit of failed trials",
			true})
	}
	return list
}

// HeldBudget is the key of the budget that has ended the experiment, and holds again when it continues: budget.when or
// budget.plateau; "" for another end. The budgets of time and of failures are [Status.UsedUp].
func (s *Status) HeldBudget() string {
	switch s.Cause.Kind {
	case core.CauseBudgetExpression:
		return "budget.when"
	case core.CauseBudgetPlateau:
		return "budget.plateau"
	}
	return ""
}

// OnceChanged says that a budget that has ended the experiment must be changed before it continues; "": none must.
func (s *Status) OnceChanged() string {
	if key := s.HeldBudget(); key != "" {
		return ", once " + key + " is changed: as it is, it ends the experiment again"
	}
	return ""
}
