package view

import (
	"errors"
	"fmt"

	"github.com/tunehost/tunehost/core"
)

// Begun counts the trials that have begun and not ended: they run, or wait to run again.
type Begun struct {
	Trials    int
	Resumable int // those of them that have a checkpoint to continue from
}

func begunTrials(m *core.Machine) (x Begun) {
	left := m.Count(core.Running) + m.Count(core.Pending)
	for no := core.TrialNo(m.Trials()); no > 0 && left > 0; no-- {
		state := m.State(no - 1)
		if state != core.Running && state != core.Pending {
			continue
		}
		left--
		if state == core.Pending && m.View(no-1).Attempt == 0 {
			continue
		}
		x.Trials++
		if len(m.Checkpoints(no-1)) > 0 {
			x.Resumable++
		}
	}
	return x
}

// Restarts describes how the started trials continue when the experiment is resumed; "" if there are none.
func (s *Status) Restarts() string {
	switch {
	case s.Begun.Trials == 0:
		return ""
	case s.Manual: // its worker keeps what it has learned
		return "continues after its last recorded iteration"
	case s.Begun.Resumable == 0:
		return "starts from the beginning: it has no checkpoint"
	case s.Begun.Resumable < s.Begun.Trials:
		return "starts from its last checkpoint, or from the beginning if it has none"
	}
	return "starts from its last checkpoint"
}

// Resumable reports whether no host runs the experiment, and one would have something to do.
func (e *Experiment) Resumable() (bool, error) {
	state, err := e.State()
	if err != nil {
		return false, err
	}
	return e.resumable(state)
}

func (e *Experiment) resumable(state string) (yes bool, err error) {
	if state == Running {
		return false, nil
	}
	failed := e.source.Look(func(s *State) { yes = s.continues() })
	if yes || failed != nil {
		return yes, failed
	}
	return e.Extended()
}

// continues reports whether the next host continues, with the settings that the last one had. One that has used up its
// time or its failures ends at once.
func (s *State) continues() bool {
	m := s.Machine
	outcome, _ := m.Outcome()
	b := s.Config.Budget
	spent := b.Time > 0 && m.Counted() >= int64(b.Time) ||
		b.TrialsFailed > 0 && m.Count(core.Errored) >= int(b.TrialsFailed)
	return m.GoesOn() && !(spent && outcome == core.Finished)
}

// Extended reports whether more trials were asked for than the last host knew of, and its searcher has more points.
func (e *Experiment) Extended() (yes bool, err error) {
	failed := e.source.Look(func(s *State) {
		was, now := s.Machine.Spec().Trials, s.Config.Trials
		yes = now != was && (now < 0 || now > was)
		if !yes {
			yes, err = s.moreTrials()
		}
		yes = yes && !s.Machine.SearchedOut()
	})
	return yes, errors.Join(failed, err)
}

// Resumer is what resumes an experiment, for messages: the command, with its directory as the user types it,
// or what has workers.
func Resumer(manual bool, dir string) string {
	if manual {
		return "`tunehost serve` or `tunehost asktell`"
	}
	return "`tunehost resume " + dir + "`"
}

// Retrier says what runs a failed trial of an experiment again that no host runs. A worker asks for one of its own.
func Retrier(manual bool, dir string, no core.TrialNo, fresh bool) string {
	flag := ""
	if fresh {
		flag = " --fresh"
	}
	if manual {
		return fmt.Sprintf("Retry in the dashboard of `tunehost serve` hands the trial out again, and so does "+
			"`tunehost retry %s %d%s` while `tunehost asktell` has the experiment", dir, no, flag)
	}
	return fmt.Sprintf("`tunehost resume %s --retry %d%s` runs the trial again", dir, no, flag)
}
