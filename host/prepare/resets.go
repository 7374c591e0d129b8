package prepare

import (
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/storage/naming"
	"github.com/tunehost/tunehost/host/usererror"
)

// Resets are the ended trials that must run again (B-082), and the paused ones that must continue; seed names trials,
// whose names are name's.
func Resets(o *options.Options, m *core.Machine, seed uint64, name func(core.TrialNo) string) (events []core.Event,
	err error) {
	named, err := retried(o.Again.Trials, m, seed, name)
	if err != nil {
		return nil, err
	}
	again, mode := o.Again, o.Resume
	resume := mode == "errored_resume"
	errored := again.Errored || resume || mode == "errored_only" || mode == "errored_restart"
	for no := range core.TrialNo(m.Trials()) {
		switch v := m.View(no); {
		case named[no]:
			events = append(events, &core.TrialReset{Trial: no, Scratch: again.Fresh, Fresh: again.Fresh})
		case v.State == core.Errored && errored:
			events = append(events, &core.TrialReset{Trial: no, Scratch: !resume})
		case v.NeverStarted && again.Unstarted:
			events = append(events, &core.TrialReset{Trial: no, Unstarted: true})
		case v.State == core.Paused && again.Paused:
			events = append(events, &core.UnpauseRequested{Trial: no})
		}
	}
	return events, nil
}

// retried returns the trials in ERROR that the user has named.
func retried(texts []string, m *core.Machine, seed uint64, name func(core.TrialNo) string) (map[core.TrialNo]bool,
	error) {
	named := map[core.TrialNo]bool{}
	for _, text := range texts {
		n, err := naming.Find(text, seed, m.Trials())
		if err != nil {
			return nil, usererror.Errorf("--retry: %w", err)
		}
		no := core.TrialNo(n)
		if v := m.View(no); v.State != core.Errored {
			return nil, usererror.Errorf("--retry: %w", steer.NotFailed(name(no), v))
		}
		named[no] = true
	}
	return named, nil
}
