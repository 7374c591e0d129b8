package engine

import (
	"slices"

	"github.com/tunehost/tunehost/core"
)

// do passes an action to the port that carries it out.
func (l *Engine) do(a core.Action) {
	for _, x := range l.Listeners {
		x.Doing(a)
	}
	switch a := a.(type) {
	case *core.Tell:
		l.tell(a.Observation)
	case core.AskSearcher:
		l.Searcher.Ask(a)
	case core.JudgeBudget:
		l.Inbox.Post(&core.BudgetJudged{})
	case core.SetTimer:
		l.Timer.Set(a.At)
	case core.Warn:
		l.Publisher.Warn(a)
	case core.DeleteCheckpoint:
		l.Store.Delete(a)
	case core.ReleaseLease:
		l.Executor.Do(a) // processes that wait on it end
		l.Granter.Do(a)
	case core.RequestLease, core.AdoptLeases:
		l.Granter.Do(a)
	case core.Finish:
		l.finished = true
	default:
		l.Executor.Do(a)
	}
}

// confirm says that a result is in the record, and that it led to these actions.
func (l *Engine) confirm(r *core.ResultReported, actions []core.Action) {
	if x, ok := l.Executor.(Confirmer); ok {
		x.Recorded(r, slices.ContainsFunc(actions, func(a core.Action) bool {
			save, is := a.(core.SaveAttempt)
			return is && save.Trial == r.Trial
		}))
	}
}

// tell passes an observation to the plugins that it is for.
func (l *Engine) tell(o core.Observation) {
	if o.To&core.ToSearcher != 0 {
		l.Searcher.Tell(o)
	}
	if o.To&core.ToScheduler != 0 {
		l.Scheduler.Tell(o)
	}
}

// flush ends a step.
func (l *Engine) flush() {
	l.Searcher.Flush()
	l.Scheduler.Flush()
	l.Granter.Flush()
	l.Executor.Flush()
	l.Publisher.Flush()
}
