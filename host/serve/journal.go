package serve

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/serve/experiments"
	"github.com/tunehost/tunehost/host/serve/problem"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/journalview"
)

type journalQuery struct {
	Named
	After int64  `query:"after" default:"-100" doc:"only entries after this number; -N: the last N entries"`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"how many entries to return at most"`
	Trial string `query:"trial" doc:"only entries about this trial, a number or an id"`
}

type journalPage struct {
	Total   uint64         `json:"total" doc:"how many entries the record has"`
	Next    uint64         `json:"next" doc:"the number to continue after"`
	Entries []journalEntry `json:"entries"`
}

// journalEntry is an entry in words, and as the object that the command prints.
type journalEntry struct {
	Number  uint64          `json:"number"`
	Seconds view.Float      `json:"at_s" doc:"the running time of the experiment"`
	Time    *time.Time      `json:"time"`
	Kind    string          `json:"kind" doc:"what happened, in words"`
	Text    string          `json:"text" doc:"the details in words, on one line"`
	Event   json.RawMessage `json:"event" doc:"the object of journal --json"`
}

func (s *Server) journal(_ context.Context, in *journalQuery) (x journalPage, err error) {
	x.Entries = []journalEntry{}
	return x, s.with(in.Name, func(e *experiments.Shared) error {
		trial, err := trialOf(e, in.Trial)
		if err != nil {
			return problem.NotFound(err)
		}
		if err := e.Look(func(s *view.State) { x.Total = s.Entries() }); err != nil {
			return err
		}
		after := uint64(max(in.After, 0))
		if in.After < 0 {
			after = x.Total - min(uint64(-in.After), x.Total)
		}
		list, next, err := e.Entries(journalview.Wanted{After: after, Through: x.Total, Limit: in.Limit, Trial: trial})
		if err != nil {
			return err
		}
		x.Next = next
		return x.add(list)
	})
}

// trialOf finds a trial; nil: none was named.
func trialOf(e *experiments.Shared, name string) (*core.TrialNo, error) {
	if name == "" {
		return nil, nil
	}
	no, err := e.Find(name)
	return &no, err
}

func (x *journalPage) add(list []*journalview.Entry) error {
	for _, e := range list {
		one, err := entryOf(e)
		if err != nil {
			return err
		}
		x.Entries = append(x.Entries, one)
	}
	return nil
}

func entryOf(e *journalview.Entry) (x journalEntry, err error) {
	x = journalEntry{Number: e.Number, Seconds: view.Float(e.At.Seconds()), Kind: e.Kind(), Text: e.Text()}
	if !e.Time.IsZero() {
		at := e.Time.UTC()
		x.Time = &at
	}
	x.Event, err = json.Marshal(e)
	return x, err
}
