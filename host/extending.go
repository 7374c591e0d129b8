package host

import (
	"fmt"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// extension is what an extension takes of a change, as KEY=VALUE; "" where it takes
// nothing that is not taken anyway.
func extension(d config.Change, now *config.Experiment) string {
	key, _, _ := strings.Cut(d.Key, ".")
	switch {
	case key == "searcher", key == "scheduler":
		return key + "=" + string(now.Key(key))
	case key == "space" && d.New != nil:
		return d.Key + "=" + string(d.New)
	}
	return ""
}

// orExtend is how a change that is ignored could be taken.
func orExtend(d config.Change, now *config.Experiment) string {
	if extension(d, now) == "" {
		return ""
	}
	return "; --extend takes it"
}

// extendable says whether what has happened so far could have happened under the new
// searcher, scheduler and space, too: they are told all of it, as theirs.
func (s *session) extendable() error {
	if s.extends == nil {
		return nil
	}
	if err := sameAxes(s.extends, s.experiment); err != nil {
		return &UserError{err}
	}
	m := s.machine
	left := m.Trials() - m.Count(core.Terminated) - m.Count(core.Errored)
	if old := s.extends; left > 0 && string(old.Key("scheduler")) != string(s.experiment.Key("scheduler")) {
		return userError("%s: the scheduler can change only when no trial is left to it, and %d are: go on without --extend until they have ended, or stop them",
			s.experiment.PosOf("scheduler"), left)
	}
	for no := range core.TrialNo(m.Trials()) {
		if _, err := s.experiment.Adopt(m.Params(no), 0); err != nil {
			return userError("%s: --extend: %s could not have run in the new space: %w; begin a new experiment with learn_from: %s",
				s.experiment.PosOf("space"), s.trials.name(no), err, s.dir.Path())
		}
	}
	if text := staysEnded(s.extends, s.experiment); text != "" && left < m.Trials() {
		s.log.Warn(text)
	}
	return nil
}

// sameAxes: names of files and numbers of choices depend on the parameters, and the
// walk through a grid on its axes, so that those stay.
func sameAxes(old, now *config.Experiment) error {
	refuse := func(what string, args ...any) error {
		return fmt.Errorf("%s: --extend: %s; begin a new experiment, with learn_from if it shall know this one",
			now.PosOf("space"), fmt.Sprintf(what, args...))
	}
	if len(old.Space.Params) != len(now.Space.Params) || len(old.Derived) != len(now.Derived) || len(old.Constants) != len(now.Constants) {
		return refuse("parameters cannot be added, taken away or made constant")
	}
	for i := range old.Space.Params {
		a, b := &old.Space.Params[i], &now.Space.Params[i]
		switch {
		case a.Name != b.Name:
			return refuse("parameter %q cannot become %q: they keep their names and their order", a.Name, b.Name)
		case a.Kind != b.Kind:
			return refuse("parameter %q cannot be of another kind", a.Name)
		case a.Grid != b.Grid || (a.Grid && !beginsWith(a, b, true)):
			return refuse("the grid of %q cannot change", a.Name)
		case !beginsWith(a, b, false):
			return refuse("the choices of %q can only be added to, at their end", a.Name)
		}
	}
	return nil
}

// beginsWith says whether b's choices are a's, and more of them only if they may be.
func beginsWith(a, b *space.Param, whole bool) bool {
	if len(b.Choices) < len(a.Choices) || whole && len(b.Choices) > len(a.Choices) {
		return false
	}
	for i := range a.Choices {
		if string(a.Choices[i]) != string(b.Choices[i]) {
			return false
		}
	}
	return true
}

// staysEnded is for those who want trials that ended at a bound to go on.
func staysEnded(old, now *config.Experiment) string {
	for _, key := range []string{"scheduler", "stop"} {
		if string(old.Key(key)) != string(now.Key(key)) {
			return fmt.Sprintf("%s has changed: it holds for new trials; those that have ended stay as they are. `tunehost add DIR --clone TRIAL` goes on from the checkpoint of one, while this runs", key)
		}
	}
	return ""
}
