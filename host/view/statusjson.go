package view

import (
	"encoding/json"

	"github.com/tunehost/tunehost/core"
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
	return json.Marshal(statusJSON{
		Name: s.Name, State: s.State, Reason: orNull(s.Reason), Cause: causeShape(s.Cause),
		Counts: countsShape(s.Counts), Unstarted: s.NeverStarted, Paused: s.Paused, Ending: orNull(s.Ending),
		Planned: s.Planned, Exhausted: s.Exhausted && s.Made < s.Planned, Best: s.single(), Front: s.Front,
		Resources: usageShape(s.Resources), Elapsed: s.Elapsed.Seconds(), Left: s.Left.orNull(), Dir: s.Dir,
		Host: s.Host, externalJSON: s.externalShape()})
}

// single is the best trial; nil: the front replaces it.
func (s *Status) single() *Ranked {
	if s.Several {
		return nil
	}
	return s.Best
}

func (s *Status) externalShape() externalJSON {
	restarts := ""
	if s.State == Interrupted {
		restarts = s.Restarts()
	}
	return externalJSON{
		Early: s.StoppedEarly, NotFinite: s.NotFinite, WasRunning: s.WasRunning, Leases: s.Leases,
		Overdue: s.Overdue, Entries: s.Entries, Resumable: s.Resumable, Restarts: restarts, Added: s.Added,
		Pending: s.Pending, Waiting: s.Waiting, OnHold: s.OnHold, ByWorkers: s.Manual,
		Unsteerable: s.Unsteerable}
}

func countsShape(counts map[core.State]int) map[string]int {
	out := map[string]int{}
	for state, n := range counts {
		out[state.String()] = n
	}
	return out
}

func usageShape(list []resource.Usage) map[string]usageJSON {
	out := map[string]usageJSON{}
	for _, u := range list {
		out[u.Name] = usageJSON{Used: u.Used, Total: u.Total}
	}
	return out
}
