package checkup

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/inproc"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/random"
	"github.com/tunehost/tunehost/plugins/trainables/chaos"
)

func try(value any) (list []string) {
	t := Try{Start: func(context.Context, sdk.Kind) (plugin.Plugin, error) { return inproc.New(value) },
		Options: []byte("{}"), Params: []byte("{}"), Timeout: 20 * time.Second}
	for _, f := range t.Run(context.Background()) {
		if f.Bad {
			list = append(list, f.What+": "+f.Text)
		}
	}
	return list
}

func TestGoodOnes(t *testing.T) {
	trainable := chaos.Plugin
	for _, value := range []any{random.Plugin, scheduler("worse than others"), trainable} {
		if bad := try(value); len(bad) > 0 {
			t.Errorf("%T: %q", value, bad)
		}
	}
}

var info = sdk.Info{Name: "x", Version: "1", Summary: "X.", Options: []byte(`{"type": "object", "additionalProperties": false}`)}

// scheduler stops everything.
func scheduler(reason string) sdk.SchedulerPlugin {
	return sdk.SchedulerPlugin{Info: info, Open: func(sdk.Problem, []byte) (sdk.Scheduler, sdk.Traits, error) {
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

type searching func(sdk.Problem) space.Point

func (searching) Observe(context.Context, []sdk.Event) error { return nil }

func searcher(f func(sdk.Problem) space.Point) sdk.SearcherPlugin {
	return sdk.SearcherPlugin{Info: info, Open: func(p sdk.Problem, _ []byte) (sdk.Searcher, sdk.Traits, error) {
		return opened{p, f}, sdk.Traits{}, nil
	}}
}

type opened struct {
	problem sdk.Problem
	searching
}

func (o opened) Suggest(context.Context, []sdk.Request) (sdk.Suggestions, error) {
	return sdk.Suggestions{Points: []space.Point{o.searching(o.problem)}}, nil
}

func trainable(train sdk.TrainFunc) sdk.TrainablePlugin {
	return sdk.TrainablePlugin{Info: info, Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) { return train, sdk.TrainableTraits{}, nil }}
}

// Each of these has one thing wrong.
func TestBadOnes(t *testing.T) {
	withInfo := func(change func(*sdk.Info)) sdk.SearcherPlugin {
		p := random.Plugin
		change(&p.Info)
		return p
	}
	for want, value := range map[string]any{
		`searcher: its name is "X Y"`:                              withInfo(func(i *sdk.Info) { i.Name = "X Y" }),
		"searcher: it has no version":                              withInfo(func(i *sdk.Info) { i.Version = "" }),
		"searcher: it has no summary":                              withInfo(func(i *sdk.Info) { i.Summary = "" }),
		"searcher options: the schema of its options is no JSON":   withInfo(func(i *sdk.Info) { i.Options = []byte("{") }),
		"searcher options: the schema of its options takes keys":   withInfo(func(i *sdk.Info) { i.Options = []byte(`{"type": "object"}`) }),
		`searcher options: option "n" has no default and is not`:   withInfo(func(i *sdk.Info) { i.Options = options(`"description": "d"`) }),
		`searcher options: option "n" has no description`:          withInfo(func(i *sdk.Info) { i.Options = options(`"default": 1`) }),
		`searcher options: its defaults: option "n" of random:`:    withInfo(func(i *sdk.Info) { i.Options = options(`"default": "a", "type": "integer", "description": "d"`) }),
		"searcher calls: started twice, it suggested other points": searcher(func(p sdk.Problem) space.Point { return p.Space.Draw(rand.New(rand.NewPCG(rand.Uint64(), 1))) }),
		"searcher calls: its suggestion is outside the space":      searcher(func(p sdk.Problem) space.Point { return space.Point{2, 1, 0} }),
		"scheduler calls: it ends a trial (event 9) without a":     scheduler(""),
		"trainable calls: the trial failed after 0 results: oh":    trainable(func(context.Context, sdk.Run) error { return errors.New("oh") }),
		"trainable calls: the trial ended without a result":        trainable(func(context.Context, sdk.Run) error { return nil }),
	} {
		bad := try(value)
		if len(bad) != 1 || !strings.Contains(bad[0], want) {
			t.Errorf("%q, want %q", bad, want)
		}
	}
}

func options(of string) []byte {
	return []byte(`{"type": "object", "additionalProperties": false, "properties": {"n": {` + of + `}}}`)
}
