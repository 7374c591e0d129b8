package view

import (
	"encoding/json"

	"github.com/tunehost/tunehost/core/resource"
)

// statusJSON is the shape that `status --json` promises; fields are added, never renamed.
type statusJSON struct {
	Name      string               `json:"name"`
	State     string               `json:"state"`
	Reason    *string              `json:"reason"`
	Cause     *causeJSON           `json:"cause"`
	Counts    map[string]int       `json:"counts"`
	Unstarted int                  `json:"never_started"`
	Paused    bool                 `json:"paused"`
	Ending    *string              `json:"ending"`
	Planned   int64                `json:"planned"`
	Exhausted bool                 `json:"exhausted,omitempty"`
	Best      *Ranked              `json:"best"`
	Front     int                  `json:"front,omitempty"`
	Resources map[string]usageJSON `json:"resources"`
	Elapsed   float64              `json:"elapsed_s"`
	// Left is there while there is an estimate.
	Left *float64 `json:"left_s,omitempty"`
	Dir  string   `json:"dir"`
	Host string   `json:"host,omitempty"`
	externalJSON
}

// externalJSON is the shape of External.
type externalJSON struct {
	Early int `json:"stopped_early"`
	// NotFinite says how many trials have ended with a value of an objective that is NaN or infinite.
	NotFinite string `json:"not_finite,omitempty"`
	// WasRunning is there while no host runs the experiment.
	WasRunning int       `json:"was_running,omitempty"`
	Leases     *Leases   `json:"leases,omitempty"`
	Overdue    []Overdue `json:"overdue,omitempty"`
	Entries    uint64    `json:"entries"`
	Resumable  bool      `json:"resumable"`
	Restarts   string    `json:"restarts,omitempty"`
	Added      int64     `json:"added,omitempty"`
	Pending    []Pending `json:"pending,omitempty"`
	Waiting    string    `json:"waiting,omitempty"`
	OnHold     bool      `json:"on_hold,omitempty"`
	ByWorkers  bool      `json:"by_workers,omitempty"`
	// Unsteerable is the reason, and only in the answers of a server.
	Unsteerable string `json:"unsteerable,omitempty"`
}

type usageJSON struct {
	Used  resource.Amount `json:"used"`
	Total resource.Amount `json:"total"`
}

// MarshalJSON writes the stable shape of `status --json`.
func (s Status) MarshalJSON() ([]byte, error) {
	counts := map[string]int{}
	for state, n := range s.Counts {
		counts[state.String()] = n
	}
	best := s.Best
	if s.Several {
		best = nil // the front replaces the best trial
	}
	restarts := ""
	if s.State == Interrupted {
		restarts = s.Restarts()
	}
	resources := map[string]usageJSON{}
	for _, u := range s.Resources {
		resources[u.Name] = usageJSON{u.Used, u.Total}
	}
	return json.Marshal(statusJSON{s.Name, s.State, orNull(s.Reason), causeShape(s.Cause), counts, s.NeverStarted,
		s.Paused, orNull(s.Ending), s.Planned, s.Exhausted && s.Made < s.Planned, best, s.Front, resources,
		s.Elapsed.Seconds(), s.Left.orNull(), s.Dir, s.Host,
		externalJSON{s.StoppedEarly, s.NotFinite, s.WasRunning, s.Leases, s.Overdue,
			s.Entries, s.Resumable, restarts, s.Added, s.Pending, s.Waiting, s.OnHold,
			s.Manual, s.Unsteerable}})
}
