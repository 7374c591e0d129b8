package host

import (
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/naming"
	"github.com/tunehost/tunehost/host/steer"
)

// resets are the trials that have ended and shall run again (B-082).
func (s *session) resets() (events []core.Event, err error) {
	named, err := s.retried()
	if err != nil {
		return nil, err
	}
	again, mode := s.options.Again, s.options.Resume
	resume := mode == "errored_resume"
	errored := again.Errored || resume || mode == "errored_only" || mode == "errored_restart"
	for no := range core.TrialNo(s.machine.Trials()) {
		switch v := s.machine.View(no); {
		case named[no]:
			events = append(events, &core.TrialReset{Trial: no, Scratch: again.Fresh, Fresh: again.Fresh})
		case v.State == core.Errored && errored:
			events = append(events, &core.TrialReset{Trial: no, Scratch: !resume})
		case v.NeverStarted && again.Unstarted:
			events = append(events, &core.TrialReset{Trial: no, Unstarted: true})
		}
	}
	if again.Unstarted {
		err = s.runnable(events)
	}
	return events, err
}

// retried are the trials in ERROR that the user has named.
func (s *session) retried() (map[core.TrialNo]bool, error) {
	named := map[core.TrialNo]bool{}
	for _, text := range s.options.Again.Trials {
		n, err := naming.Find(text, s.file.Seed, s.machine.Trials())
		if err != nil {
			return nil, userError("--retry: %w", err)
		}
		no := core.TrialNo(n)
		if v := s.machine.View(no); v.State != core.Errored {
			return nil, userError("--retry: %w", steer.NotFailed(s.trials.name(no), v))
		}
		named[no] = true
	}
	return named, nil
}

// runnable says what keeps trials that never started from running now.
func (s *session) runnable(events []core.Event) error {
	if len(events) == 0 {
		s.log.Warn("--unstarted: there is no trial that never started")
		return nil
	}
	spec, err := s.spec()
	if err != nil {
		return err
	}
	if limit := spec.Budget.TimeNS; limit > 0 && s.last >= limit {
		return userError("%s: the time budget (budget.time: %s) is used up, and no trial would run: give it more, as in `tunehost run FILE --set budget.time=2h --unstarted`",
			s.dir.Path(), s.experiment.Budget.Time)
	}
	return nil
}
