package conformance

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/guard"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// allowFailure: a call with invalid events may return an error, but the plugin stays alive.
func allowFailure(err error) error {
	if err == nil {
		return nil
	}
	_, panicked := errors.AsType[*guard.PanicError](err)
	if f := plugin.FailureOf(err); f != plugin.Failed || panicked || strings.Contains(err.Error(), "panic") {
		return wanted("the events to be ignored, or an error", "%v", err)
	}
	return errRefusedEvents
}

// errRefusedEvents: the plugin refused events, which is allowed.
var errRefusedEvents = errors.New("it refused the events")

// strange are invalid events.
type strange struct {
	searcherPlan
	// Of selects the events: "unknown" (trials that were never added), "ended" (trials that have
	// ended), "future" (unknown kinds).
	Of string `json:"of"`
}

// invalidEvents returns the events of one sort, with numbers after after.
func (w *strange) invalidEvents(after uint64, added, objectives int, point []float64) (events []sdk.Event) {
	trials := []uint32{uint32(added), uint32(added) + 1000, math.MaxUint32 - 1, math.MaxUint32}
	if w.Of == "ended" {
		trials = []uint32{0, 1}
	}
	list := []sdk.EventKind{sdk.TrialStarted, sdk.ResultReported, sdk.TrialPaused, sdk.CheckpointSaved,
		sdk.TrialRequeued,
		sdk.TrialRemoved, sdk.TrialFailed, sdk.TrialCompleted, sdk.ResultReported}
	if w.Of == "future" {
		trials, list = []uint32{0, uint32(added) - 1, uint32(added)}, []sdk.EventKind{0, 12, 99, 255}
	}
	for _, kind := range list {
		for _, trial := range trials {
			e := sdk.Event{Number: after + 1 + uint64(len(events)), Kind: kind, Trial: trial, Attempt: 1, Iteration: 3}
			if kind == sdk.ResultReported || kind == sdk.TrialCompleted {
				e.Losses = slices.Repeat([]float64{0.5}, objectives)
			}
			if w.Of == "future" {
				e.Point = point
			}
			events = append(events, e)
		}
	}
	return events
}

// searcherStrangers checks that invalid events do not crash the searcher, and that events of
// unknown kinds are ignored.
func searcherStrangers(s *subject, w strange) error {
	h, err := s.runSearch(w.searcherPlan)
	if err != nil {
		return err
	}
	last := h.history[len(h.history)-1].Number
	strangers := w.invalidEvents(last, len(h.trials), len(h.problem.Objectives), h.trials[0].point)
	err = allowFailure(h.searcher.Observe(s.ctx, strangers))
	if errors.Is(err, errRefusedEvents) {
		if w.Of == "future" {
			return wanted("events of unknown kinds to be ignored", "an error")
		}
		return nil
	}
	if err != nil {
		return err
	}
	requests := h.requests(2)
	got, err := h.searcher.Suggest(s.ctx, requests)
	if err != nil {
		return err
	}
	if err := h.take(requests, got); err != nil {
		return err
	}
	return h.strayed
}

// flood is a message of maximum size.
type flood struct {
	searcherPlan
	Events  int `json:"events"`
	Metrics int `json:"metrics"`
}

// events returns results with many metrics, which share their names.
func (w *flood) events(after uint64, trials, objectives int) []sdk.Event {
	metrics := make([]sdk.Metric, w.Metrics)
	for i := range metrics {
		metrics[i] = sdk.Metric{Name: fmt.Sprintf("метрика/%04d", i), Value: float64(i) / 3}
	}
	if len(metrics) > 2 {
		metrics[0].Value, metrics[1].Value = math.NaN(), math.Inf(-1)
	}
	events := make([]sdk.Event, w.Events)
	for i := range events {
		events[i] = sdk.Event{
			Number: after + 1 + uint64(i), Kind: sdk.ResultReported, Trial: uint32(i % trials), Attempt: 1,
			Iteration: uint64(i/trials) + 1, Losses: slices.Repeat([]float64{1 / float64(i+1)},
				objectives), Metrics: metrics,
		}
	}
	return events
}

// searcherFlood checks that a message of maximum size is accepted.
func searcherFlood(s *subject, w flood) error {
	h, err := s.openSearcher(w.searcherPlan)
	if err != nil {
		return err
	}
	if err := h.ask(w.Workers); err != nil {
		return err
	}
	if err := h.sendEvents(); err != nil || len(h.trials) == 0 {
		return err
	}
	last := h.history[len(h.history)-1].Number
	if err := h.searcher.Observe(s.ctx, w.events(last, len(h.trials), 1)); err != nil {
		return err
	}
	return h.ask(1)
}

// searcherCrowd checks that the searcher still suggests after many trials.
func searcherCrowd(s *subject, w struct {
	searcherPlan
	Ask int `json:"ask"`
}) error {
	h, err := s.prepare(w.searcherPlan)
	if err != nil {
		return err
	}
	rng := space.NewRand(23)
	for range w.Trials {
		p, err := h.problem.Space.Sample(rng)
		if err != nil {
			return err
		}
		if err := h.add(p); err != nil {
			return err
		}
	}
	for no := range h.trials {
		for len(h.trials[no].script) > 0 {
			h.step(uint32(no))
		}
	}
	if h.searcher, err = s.searcher(h.problem, nil); err != nil {
		return err
	}
	if err := h.sendEvents(); err != nil {
		return err
	}
	if err := h.ask(w.Ask); err != nil {
		return err
	}
	if !h.searcher.Snapshots() {
		return nil
	}
	_, err = usable(h.searcher.Snapshot(s.ctx))
	return err
}

// searcherObjectives checks that several objectives are supported, or refused at once.
func searcherObjectives(s *subject, w searcherPlan) error {
	h, err := s.runSearch(w)
	if err != nil {
		return err
	}
	return h.strayed
}

// A futurist is a plugin that can receive unknown fields in all messages.
type futurist interface{ SendUnknownFields() }

// future starts the plugin with messages of a later minor version.
func (s *subject) future() (plugin.Plugin, error) {
	p, err := s.plugin()
	if err != nil {
		return nil, err
	}
	f, ok := p.(futurist)
	if !ok {
		return nil, inapplicable("no messages are sent to it")
	}
	f.SendUnknownFields()
	return p, nil
}

// searcherFuture checks that unknown fields change nothing.
func searcherFuture(s *subject, w searcherPlan) error {
	h, err := s.runSearch(w)
	if err != nil {
		return err
	}
	p, err := s.future()
	if err != nil {
		return err
	}
	searcher, err := p.OpenSearcher(s.ctx, h.problem, s.options(), nil)
	if err != nil {
		return err
	}
	return s.again(searcher, h.calls, whole, all)
}
