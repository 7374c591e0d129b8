package prepare

import (
	"bytes"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/storage/naming"
	"github.com/tunehost/tunehost/host/usererror"
)

// Copies are new trials with the parameters of others that the user has named. fill completes what a trial
// requests. The runs of one suggestion are copied together: who names two of them means one copy, who names one of them
// twice means two.
func Copies(o *options.Options, e *config.Experiment, m *core.Machine, seed uint64, name func(core.TrialNo) string,
	fill func(*core.Suggestion) error) (events []core.Event, err error) {
	c := copier{e: e, m: m, seed: seed, name: name, fill: fill, copied: map[copied]core.TrialNo{}}
	for _, text := range o.Again.Copies {
		if err := c.add("--copy", text, false); err != nil {
			return nil, err
		}
	}
	for _, text := range o.Again.Clones {
		if err := c.add("--clone", text, true); err != nil {
			return nil, err
		}
	}
	return c.events, nil
}

type copier struct {
	e      *config.Experiment
	m      *core.Machine
	seed   uint64
	name   func(core.TrialNo) string
	fill   func(*core.Suggestion) error
	copied map[copied]core.TrialNo // the run that was named
	events []core.Event
}

// copied is a suggestion, by its first run, that is copied or cloned.
type copied struct {
	first core.TrialNo
	clone bool
}

// add copies one trial.
func (c *copier) add(flag, text string, clone bool) error {
	n, err := naming.Find(text, c.seed, c.m.Trials())
	if err != nil {
		return usererror.Errorf("%s: %w", flag, err)
	}
	donor := core.TrialNo(n)
	if clone && len(c.m.Checkpoints(donor)) == 0 {
		return usererror.Errorf("%s %s: %s has no checkpoint to start from: use --copy", flag, text, c.name(donor))
	}
	if clone {
		if why := c.e.NothingLeft(c.m.View(donor).Checkpoint.Iteration); why != "" {
			return usererror.Errorf("%s %s: the newest checkpoint of %s %s, or train its parameters anew with --copy",
				flag, text, c.name(donor), why)
		}
	}
	first, _ := c.m.Runs(donor)
	key := copied{first, clone}
	if named, there := c.copied[key]; there && named != donor {
		return nil
	}
	c.copied[key] = donor
	g := core.Suggestion{Params: bytes.Clone(c.m.Params(donor))}
	if err := c.fill(&g); err != nil {
		return usererror.Wrap(err)
	}
	c.events = append(c.events, &core.TrialGiven{Suggestion: g, Extra: true, Clone: clone, Donor: donor})
	return nil
}
