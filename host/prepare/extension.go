package prepare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// extension returns the part of a change that only an extension accepts, as KEY=VALUE; "" if there is
// none.
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

// Extendable checks that all earlier events are possible with the new searcher, scheduler
// and space, because they receive these events as their own. warning is for the user. name names trials.
func (p *Plan) Extendable(m *core.Machine, name func(core.TrialNo) string) (warning string, err error) {
	if p.Extends == nil {
		return "", nil
	}
	if why := otherAxes(p.Extends, p.Experiment); why != "" {
		return "", usererror.Errorf("%s: --extend: %s", p.spaceAt(), why)
	}
	left := m.Trials() - m.Count(core.Terminated) - m.Count(core.Errored)
	if old := p.Extends; left > 0 && string(old.Key("scheduler")) != string(p.Experiment.Key("scheduler")) {
		how := ""
		if m.Count(core.Paused) > 0 {
			how = " (with --unpause, which continues those that are paused)"
		}
		return "", usererror.Errorf("%s: the scheduler can change only when all trials have ended, and %d have not: "+
			"continue without --extend%s until they have, or stop them meanwhile",
			p.Experiment.PosOf("scheduler"), left, how)
	}
	for no := range core.TrialNo(m.Trials()) {
		if _, err := p.Experiment.Adopt(m.Params(no), 0); err != nil {
			return "", usererror.Errorf("%s: --extend: %s could not have run in the new space: %w; write a space into "+
				"the file, or --set, in which every trial could have run, such as the present one (%s), or begin a "+
				"new experiment with learn_from: %s",
				p.spaceAt(), name(no), err, p.Extends.Key("space"), p.Dir.Path())
		}
	}
	if left < m.Trials() {
		warning = staysEnded(p.Extends, p.Experiment)
	}
	return warning, nil
}

// spaceAt is the place of the first parameter that differs from the space so far.
func (p *Plan) spaceAt() config.Pos {
	given := cmp.Or(p.given, p.Experiment)
	for _, d := range config.Diff(p.Extends, given) {
		if key, _, _ := strings.Cut(d.Key, "."); key == "space" {
			return d.Pos
		}
	}
	return given.PosOf("space")
}

// otherAxes returns why an experiment cannot be resumed with a space, and what to do; "" if it
// can. Names of files and numbers of choices depend on the parameters, and the order of a grid on
// its axes, so these stay.
func otherAxes(old, now *config.Experiment) string {
	if added := news(old, now); len(added) > 0 {
		return fmt.Sprintf("an experiment keeps its parameters, and %q is new; begin a new experiment (--name) with "+
			"learn_from: [the directory of this one] and, in %s, was: the value that trials had", added[0], added[0])
	}
	if why := changedAxis(old, now); why != "" {
		return why + "; begin a new experiment (--name), with learn_from if it must know the trials of this one " +
			"that could have run there"
	}
	return ""
}

// news returns the searched parameters that did not exist before.
func news(old, now *config.Experiment) (list []string) {
	for i := range now.Space.Params {
		name := now.Space.Params[i].Name
		named := func(p space.Param) bool { return p.Name == name }
		constant := func(c config.Constant) bool { return c.Name == name }
		derived := func(d config.Derived) bool { return d.Name == name }
		if !slices.ContainsFunc(old.Space.Params, named) && !slices.ContainsFunc(old.Constants, constant) &&
			!slices.ContainsFunc(old.Derived, derived) {
			list = append(list, name)
		}
	}
	return list
}

// changedAxis names a parameter that has changed.
func changedAxis(old, now *config.Experiment) string {
	if len(old.Space.Params) != len(now.Space.Params) || len(old.Derived) != len(now.Derived) ||
		len(old.Constants) != len(now.Constants) {
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

// beginsWith reports whether b's choices are a's, followed by others unless whole is set.
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

// staysEnded is a warning for users who expect trials that ended at a bound to continue.
func staysEnded(old, now *config.Experiment) string {
	for _, key := range []string{"scheduler", "stop"} {
		if string(old.Key(key)) != string(now.Key(key)) {
			return fmt.Sprintf("%s has changed from %s to %s: it holds for new trials; those that have ended stay as "+
				"they are. To continue from the checkpoint of one, `tunehost add DIR --clone TRIAL` while this runs, "+
				"or `tunehost resume DIR --clone TRIAL` afterwards", key,
				orNothing(old.Key(key)), orNothing(now.Key(key)))
		}
	}
	return ""
}
