package steer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/points"
	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/host/view"
)

// Settings gives Set access to the settings of an experiment, which are kept beside its record.
type Settings interface {
	reader
	// Keep stores settings for later hosts, and returns the settings for the core.
	Keep(sets []string, now *config.Experiment) (core.Spec, error)
}

// errNothingKept: an experiment in memory has no settings that a later host could read.
var errNothingKept = errors.New("this experiment is in memory alone: its settings stay as they are")

// changes are what settings change in an experiment.
type changes struct {
	now      *config.Experiment
	list     []Change
	warnings []string
}

// changed returns the experiment with more settings, and the changes. It refuses a change that would be
// refused when the experiment continues.
func changed(s reader, sets []string) (c changes, err error) {
	if len(sets) == 0 {
		return c, usererror.Errorf("nothing is given to be set: expected KEY=VALUE, as in trials=200")
	}
	if err := wellFormed(sets); err != nil {
		return c, err
	}
	old, err := s.With(nil)
	if err != nil {
		return c, err
	}
	if c.now, err = s.With(sets); err != nil {
		return c, mistakes(err)
	}
	for _, d := range config.Diff(old, c.now) {
		if err := refusal(d); err != nil {
			return c, err
		}
		c.list = append(c.list, Change{d.Key, d.Old, d.New})
	}
	c.warnings = added(s.Doubts(old), s.Doubts(c.now))
	return c, nil
}

// added are the warnings that settings have added.
func added(old, now []*config.Error) (texts []string) {
	for _, w := range now {
		if !slices.ContainsFunc(old, func(x *config.Error) bool { return x.Error() == w.Error() }) {
			texts = append(texts, strings.TrimPrefix(w.Error(), "--set "))
		}
	}
	return texts
}

// count compares trials, if it has changed, with the trials that there are: it does not count those that the user has
// added, and removes none.
func (c *changes) count(m *core.Machine) {
	planned := points.NewPlan(c.now).Trials()
	trials := func(x Change) bool { return x.Key == "trials" }
	if planned < 0 || !slices.ContainsFunc(c.list, trials) {
		return
	}
	if made := m.Planned(); planned < made {
		c.warnings = append(c.warnings, fmt.Sprintf("trials: %d are planned now, but there are %d already: none is "+
			"removed", planned, made))
	}
	if added := view.Added(m); added > 0 {
		_, runs := m.Runs(0)
		c.warnings = append(c.warnings, fmt.Sprintf("trials: added trials (%d) come on top: there will be %d in total",
			added*int64(runs), (max(planned, m.Planned())+added)*int64(runs)))
	}
}

// wellFormed refuses settings that are wrong for every experiment.
func wellFormed(sets []string) error {
	for i, text := range sets {
		if key, _, _ := strings.Cut(text, "="); key == "seed" { // one that the file does not have is no difference
			return refusal(config.Change{Key: key, Effect: config.Ignored})
		}
		if err := config.CheckSet(sets[:i], text); err != nil {
			return usererror.Wrap(err)
		}
	}
	return nil
}

// mistakes returns the mistakes in the settings, without those in the file.
func mistakes(err error) error {
	var list config.Errors
	if !errors.As(err, &list) {
		return err
	}
	var texts []string
	for _, x := range list {
		texts = append(texts, strings.TrimPrefix(x.Error(), "--set "))
	}
	return usererror.Errorf("%s", strings.Join(texts, "; "))
}

// refusal returns why a setting cannot be changed.
func refusal(d config.Change) error {
	switch key, _, _ := strings.Cut(d.Key, "."); {
	case d.Effect == config.Taken:
		return nil
	case d.Effect == config.Different:
		return usererror.Errorf("%s cannot be set: with another one it is another experiment; begin that with "+
			"`tunehost run FILE --set %s=... --name NAME`", d.Key, key)
	case key == "searcher", key == "scheduler", key == "space":
		return usererror.Errorf("%s cannot be set: an experiment keeps the value with which it began; "+
			"`tunehost run FILE --set %s=... --extend` extends it, when no host runs it",
			strings.TrimSuffix(d.Key, ".plugin"), key)
	}
	return usererror.Errorf("%s cannot be set: an experiment keeps the value with which it began", d.Key)
}

// reader reads the experiment file together with settings.
type reader interface {
	// With is the experiment with more settings, each a KEY=VALUE.
	With(sets []string) (*config.Experiment, error)
	// Doubts are warnings of what is valid in an experiment but surely not meant.
	Doubts(*config.Experiment) []*config.Error
}

// atOnce are the keys that a host can change while it runs, because it reads their values from the core
// each time. The name of a map includes its keys.
var atOnce = []string{"trials", "concurrency", "budget.time", "budget.trials_failed", "failures", "stop.iteration",
	"stop.time"}

// set changes settings now and for later hosts.
func (c *Live) set(r Set) (a Answer, err error) {
	if c.Settings == nil {
		return a, errNothingKept
	}
	x, err := changed(c.Settings, r.Settings)
	if err != nil {
		return a, err
	}
	for _, x := range x.list {
		if key := laterIn(x); key != "" {
			return a, tooLate(key)
		}
	}
	if len(x.list) == 0 {
		return a, nil
	}
	if err := c.look(x.count); err != nil {
		return a, err
	}
	return Answer{Changed: x.list, Warnings: x.warnings}, c.settle(r.Settings, x.now)
}

// tooLate says how to change a key that the host does not read again. If it is nearly one that the host reads, that
// comes first.
func tooLate(key string) error {
	hint, then := nearest.Hint(key, atOnce), ": interrupt it"
	if hint != "" {
		then = hint + " If not, interrupt it"
	}
	return fmt.Errorf("%s cannot be changed while a host runs, which read it when it began%s (`tunehost interrupt "+
		"DIR`), set it then, and continue with `tunehost resume DIR`; while it runs %s can be set", key, then,
		strings.Join(atOnce, ", "))
}

// settle stores the settings, and then records them. If the host dies in between, the next one records
// them.
func (c *Live) settle(sets []string, now *config.Experiment) error {
	if err := c.unlessOver(); err != nil {
		return err
	}
	if c.open != nil && !c.open() {
		return ErrGivenUp
	}
	spec, err := c.Settings.Keep(sets, now)
	if err != nil {
		return err
	}
	return c.Host.Post(&core.SettingsChanged{Spec: spec}, nil, func(*view.State) {})
}

func (c *Live) unlessOver() error {
	var ending core.Outcome
	if err := c.look(func(m *core.Machine) { ending, _ = m.Ending() }); err != nil {
		return err
	}
	if ending != 0 {
		return fmt.Errorf("the experiment is ending, and will be %s: set it when that has happened", ending)
	}
	return nil
}

// laterIn returns the changed key that only the next host reads; "" if there is none. To add or
// remove a map is to change all keys in it.
func laterIn(x Change) string {
	if isAtOnce(x.Key) {
		return ""
	}
	old, now := inMap(x.Old), inMap(x.New)
	if old == nil && now == nil {
		return x.Key
	}
	for _, part := range []map[string]json.RawMessage{old, now} {
		for name := range part {
			if key := x.Key + "." + name; !bytes.Equal(old[name], now[name]) && !isAtOnce(key) {
				return key
			}
		}
	}
	return ""
}

// inMap is what a map in JSON has; nil of anything else.
func inMap(text []byte) (m map[string]json.RawMessage) {
	if json.Unmarshal(text, &m) != nil {
		return nil
	}
	return m
}

func isAtOnce(key string) bool {
	return slices.ContainsFunc(atOnce, func(k string) bool { return key == k || strings.HasPrefix(key, k+".") })
}
