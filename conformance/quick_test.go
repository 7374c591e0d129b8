package conformance_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/random"
	"github.com/tunehost/tunehost/plugins/trainables/chaos"
)

// quick returns the failures of the quick checks.
func quick(t *testing.T, kind sdk.Kind, value any) (found []string) {
	ran := 0
	err := conformance.Run(t.Context(), kind, conformance.InProcess(value), conformance.Options{Quick: true},
		func(r conformance.Result) {
			if ran++; r.Outcome == conformance.Failed {
				found = append(found, r.Check+": want "+r.Want+"; saw "+r.Saw)
			}
		})
	if err != nil || ran == 0 || ran > 6 {
		t.Errorf("%d checks, %v", ran, err)
	}
	return found
}

func TestQuickPasses(t *testing.T) {
	for kind, value := range map[sdk.Kind]any{
		sdk.KindSearcher: random.Plugin, sdk.KindScheduler: scheduler("worse than others"),
		sdk.KindTrainable: chaos.Plugin,
	} {
		if bad := quick(t, kind, value); len(bad) > 0 {
			t.Errorf("%s: %q", kind, bad)
		}
	}
}

var info = sdk.Info{
	Name: "x", Version: "1", Summary: "X.", Options: []byte(`{"type": "object", "additionalProperties": false}`),
}

// scheduler stops everything.
func scheduler(reason string) sdk.SchedulerPlugin {
	return sdk.SchedulerPlugin{Info: info, Open: func(_ sdk.Problem, text []byte) (sdk.Scheduler, sdk.Traits, error) {
		return stopping(reason), sdk.Traits{}, nil
	}}
}

type stopping string

func (s stopping) Decide(_ context.Context, events []sdk.Event) (out sdk.Decisions, err error) {
	for _, e := range events {
		if e.Kind == sdk.ResultReported {
			out.Decisions = append(out.Decisions, sdk.Decision{Event: e.Number, Verdict: sdk.Stop, Reason: string(s)})
		}
	}
	return out, nil
}

// searcher suggests one point for each request.
func searcher(point func(sdk.Problem) space.Point) sdk.SearcherPlugin {
	return sdk.SearcherPlugin{Info: info, Open: func(p sdk.Problem, _ []byte) (sdk.Searcher, sdk.Traits, error) {
		return suggesting{p, point}, sdk.Traits{}, nil
	}}
}

type suggesting struct {
	problem sdk.Problem
	point   func(sdk.Problem) space.Point
}

func (suggesting) Observe(context.Context, []sdk.Event) error { return nil }

func (s suggesting) Suggest(_ context.Context, requests []sdk.Request) (out sdk.Suggestions, _ error) {
	for range requests {
		out.Points = append(out.Points, s.point(s.problem))
	}
	return out, nil
}

func trainable(train sdk.TrainFunc) sdk.TrainablePlugin {
	return sdk.TrainablePlugin{Info: info, Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		return train, sdk.TrainableTraits{}, nil
	}}
}

// The quick checks find the most common mistakes of authors.
func TestQuickFinds(t *testing.T) {
	withInfo := func(change func(*sdk.Info)) sdk.SearcherPlugin {
		p := random.Plugin
		change(&p.Info)
		return p
	}
	options := func(of string) []byte {
		return []byte(`{"type": "object", "additionalProperties": false, "properties": {"n": {` + of + `}}}`)
	}
	drawn := func(p sdk.Problem) space.Point { return p.Space.Draw(rand.New(rand.NewPCG(rand.Uint64(), 1))) }
	for want, value := range map[string]any{
		`a name of lower case letters, digits and dashes; saw "X Y"`: withInfo(func(i *sdk.Info) { i.Name = "X Y" }),
		"want a version":     withInfo(func(i *sdk.Info) { i.Version = "" }),
		"want a summary":     withInfo(func(i *sdk.Info) { i.Summary = "" }),
		"want a JSON Schema": withInfo(func(i *sdk.Info) { i.Options = []byte("{") }),
		`"additionalProperties": false; saw`: withInfo(func(i *sdk.Info) {
			i.Options = []byte(`{"type": "object"}`)
		}),
		`a default for each option`: withInfo(func(i *sdk.Info) {
			i.Options = options(`"description": "d"`)
		}),
		"a description for each option; saw none": withInfo(func(i *sdk.Info) { i.Options = options(`"default": 1`) }),
		"want defaults that fit the schema": withInfo(func(i *sdk.Info) {
			i.Options = options(`"default": "a", "type": "integer", "description": "d"`)
		}),
		"searcher/deterministic/instances: want": searcher(drawn),
		"searcher/deterministic/instances: want a": searcher(func(sdk.Problem) space.Point {
			return space.Point{2, 1,
				0}
		}),
		"scheduler/decisions/reasons": scheduler(""),
		"trainable/runs/start-to-end: want": trainable(func(context.Context, sdk.Run) error {
			return errors.New("oh")
		}),
		"saw the trial ended without one": trainable(func(context.Context, sdk.Run) error { return nil }),
	} {
		bad := strings.Join(quick(t, kindOf(value), value), "\n")
		if !strings.Contains(bad, want) {
			t.Errorf("%q, want %q", bad, want)
		}
	}
}

func kindOf(value any) sdk.Kind {
	switch value.(type) {
	case sdk.SchedulerPlugin:
		return sdk.KindScheduler
	case sdk.TrainablePlugin:
		return sdk.KindTrainable
	}
	return sdk.KindSearcher
}

func TestCheckInfo(t *testing.T) {
	if err := conformance.CheckInfo(random.Plugin.Info, sdk.KindSearcher); err != nil {
		t.Error(err)
	}
	if err := conformance.CheckInfo(random.Plugin.Info, sdk.KindScheduler); err == nil {
		t.Error("a searcher is no scheduler")
	}
	bad := random.Plugin.Info
	bad.Options = []byte(`{"type": "object"}`)
	if err := conformance.CheckInfo(bad, sdk.KindSearcher); err == nil {
		t.Error("a schema that takes any option")
	}
}
