package view

import (
	"encoding/json"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
)

// Pending is a setting that was changed after the last host had ended: the next host reads it.
type Pending struct {
	Key string `json:"key"`
	// Old and New are JSON; empty: the experiment does not have it.
	Old json.RawMessage `json:"old,omitempty"`
	New json.RawMessage `json:"new,omitempty"`
}

// pending returns the settings that were changed after all that is in the record.
func (s *State) pending() (list []Pending, err error) {
	last := s.wall(s.Machine.Now())
	if s.run == nil || last.IsZero() {
		return nil, nil
	}
	for _, x := range s.run.Extensions {
		if !x.Set || !x.Time.After(last) {
			continue
		}
		was, err := s.run.ParseBefore(s.Config.Source, x)
		if err != nil {
			return nil, err
		}
		for _, d := range config.Diff(was, s.Config) {
			list = append(list, Pending{d.Key, d.Old, d.New})
		}
		return list, nil
	}
	return nil, nil
}

// moreTrials reports whether the next host has more trials to make; of a grid they count how often it is walked.
func (s *State) moreTrials() (bool, error) {
	list, err := s.pending()
	for _, x := range list {
		var was, now int64
		if x.Key == "trials" && json.Unmarshal(x.Old, &was) == nil && json.Unmarshal(x.New, &now) == nil {
			return now < 0 || was >= 0 && now > was, err
		}
	}
	return false, err
}

// Added returns how many suggestions the user has added to the planned ones.
func Added(m *core.Machine) int64 {
	_, runs := m.Runs(0)
	return int64(m.Trials()/max(runs, 1)) - m.Planned()
}
