package view

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/tunehost/tunehost/core"
)

// Shapes returns, for each type that writes its own JSON, a struct type with the same JSON: what a
// generator of schemas reads instead.
func Shapes() map[reflect.Type]reflect.Type {
	return map[reflect.Type]reflect.Type{
		reflect.TypeFor[Status]():  reflect.TypeFor[statusJSON](),
		reflect.TypeFor[Trial]():   reflect.TypeFor[trialJSON](),
		reflect.TypeFor[Detail]():  reflect.TypeFor[detailJSON](),
		reflect.TypeFor[Ranked]():  reflect.TypeFor[rankedJSON](),
		reflect.TypeFor[Result]():  reflect.TypeFor[resultJSON](),
		reflect.TypeFor[Stretch](): reflect.TypeFor[stretchJSON](),
		reflect.TypeFor[Event]():   reflect.TypeFor[eventJSON](),
	}
}

// eventJSON describes the JSON of all kinds of events; AppendJSON writes it. A test compares them.
type eventJSON struct {
	Event   string        `json:"event"`
	Number  uint64        `json:"event_number"`
	Time    time.Time     `json:"time"`
	Trial   string        `json:"trial,omitempty"`
	TrialNo *core.TrialNo `json:"number,omitempty"`
	Attempt *uint32       `json:"attempt,omitempty"`
	// State is the trial's, or that of the experiment when it has ended.
	State    string          `json:"state,omitempty"`
	Params   json.RawMessage `json:"params,omitempty"`
	Dir      string          `json:"dir,omitempty"`
	Restored uint64          `json:"restored_from,omitempty"`
	Reason   *string         `json:"reason,omitempty"`
	Error    *string         `json:"error,omitempty"`
	Never    bool            `json:"never_started,omitempty"`
	At       *uint64         `json:"iteration,omitempty"`
	reportJSON
}

// reportJSON is the part of eventJSON that results have.
type reportJSON struct {
	Metrics  map[string]Float `json:"metrics,omitempty"`
	Totals   map[string]Float `json:"totals,omitempty"`
	Values   json.RawMessage  `json:"values,omitempty"`
	Done     *bool            `json:"done,omitempty"`
	Total    *Float           `json:"time_total_s,omitempty"`
	ThisIter *Float           `json:"time_this_iter_s,omitempty"`
	PID      *uint32          `json:"pid,omitempty"`
	Host     *string          `json:"host,omitempty"`
	Again    bool             `json:"again,omitempty"`
	Since    *uint64          `json:"iterations_since_restore,omitempty"`
	SinceS   *Float           `json:"time_since_restore,omitempty"`
}
