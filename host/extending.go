package host

import (
	"fmt"
	"slices"
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

// sameAxes refuses a space that an experiment cannot go on with.
func sameAxes(old, now *config.Experiment) error {
	if why := otherAxes(old, now); why != "" {
		return fmt.Errorf("%s: --extend: %s", now.PosOf("space"), why)
	}
	return nil
}

// otherAxes says why an experiment cannot go on with a space, and what can be done; "" where it
// can. Names of files and numbers of choices depend on the parameters, and the walk through a
// grid on its axes, so that those stay.
func otherAxes(old, now *config.Experiment) string {
	if added := news(old, now); len(added) > 0 {
		return fmt.Sprintf("an experiment keeps its parameters, and %q is new; begin a new experiment (--name) with learn_from: [the directory of this one] "+
			"and, in %s, was: the value that trials had", added[0], added[0])
	}
	if why := changedAxis(old, now); why != "" {
		return why + "; begin a new experiment (--name), with learn_from if it shall know the trials of this one that could have run there"
	}
	return ""
}

// news are the parameters that are searched now and did not exist.
func news(old, now *config.Experiment) (list []string) {
	for i := range now.Space.Params {
		name := now.Space.Params[i].Name
		named := func(p space.Param) bool { return p.Name == name }
		constant := func(c config.Constant) bool { return c.Name == name }
		derived := func(d config.Derived) bool { return d.Name == name }
		if !slices.ContainsFunc(old.Space.Params, named) && !slices.ContainsFunc(old.Constants, constant) && !slices.ContainsFunc(old.Derived, derived) {
			list = append(list, name)
		}
	}
	return list
}

// changedAxis says which parameter is not what it was.
func changedAxis(old, now *config.Experiment) string {
	if len(old.Space.Params) != len(now.Space.Params) || len(old.Derived) != len(now.Derived) || len(old.Constants) != len(now.Constants) {
		return "parameters cannot be added, taken away or made constant"
	}
	for i := range old.Space.Params {
		a, b := &old.Space.Params[i], &now.Space.Params[i]
		switch {
		case a.Name != b.Name:
			return fmt.Sprintf("parameter %q cannot become %q: they keep their names and their order", a.Name, b.Name)
		case a.Kind != b.Kind:
			return fmt.Sprintf("parameter %q cannot be of another kind", a.Name)
		case a.Grid != b.Grid || (a.Grid && !beginsWith(a, b, true)):
			return fmt.Sprintf("the grid of %q cannot change", a.Name)
		case !beginsWith(a, b, false):
			return fmt.Sprintf("the choices of %q can only be added to, at their end", a.Name)
		}
	}
	return ""
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
