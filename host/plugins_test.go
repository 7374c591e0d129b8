package host

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/random"
)

// asked is a searcher that is one function.
type asked func(requests []sdk.Request) (sdk.Suggestions, error)

func (asked) Observe(context.Context, []sdk.Event) error { return nil }

func (f asked) Suggest(_ context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	return f(requests)
}

func searcherOf(name string, open func(sdk.Problem) asked) sdk.SearcherPlugin {
	return sdk.SearcherPlugin{
		Info: sdk.Info{Name: name, Version: "1", Options: noOptions},
		Open: func(p sdk.Problem, _ []byte) (sdk.Searcher, sdk.Traits, error) { return open(p), sdk.Traits{}, nil },
	}
}

// outside suggests points beyond every bound.
var outside = searcherOf("outside", func(p sdk.Problem) asked {
	return func(requests []sdk.Request) (answer sdk.Suggestions, err error) {
		for range requests {
			point := make(space.Point, len(p.Space.Params))
			for i := range point {
				point[i] = 1e9
			}
			answer.Points = append(answer.Points, point)
		}
		return answer, nil
	}
})

// waiting never suggests anything.
var waiting = searcherOf("waiting", func(sdk.Problem) asked {
	return func([]sdk.Request) (sdk.Suggestions, error) { return sdk.Suggestions{Status: sdk.Wait}, nil }
})

// learner is the random searcher, but says that it learns from results.
var learner = sdk.SearcherPlugin{
	Info: sdk.Info{Name: "learner", Version: "1", Options: noOptions},
	Open: func(p sdk.Problem, _ []byte) (sdk.Searcher, sdk.Traits, error) {
		s, _, err := random.Plugin.Open(p, []byte("{}"))
		return s, sdk.Traits{}, err
	},
}

// sized is a trainable that needs as many processors as its parameter workers
// says, and reports one result.
var sized = sdk.TrainablePlugin{
	Info: sdk.Info{Name: "sized", Version: "1", Options: noOptions},
	Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		return sizedTrainable{}, sdk.TrainableTraits{Shared: true, Reusable: true}, nil
	},
}

type sizedTrainable struct{}

func (sizedTrainable) Request(params []byte) ([]byte, error) {
	var p struct {
		Workers int    `json:"workers"`
		Memory  string `json:"memory"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	if p.Workers == 13 {
		return nil, fmt.Errorf("13 workers bring bad luck")
	}
	return fmt.Appendf(nil, `{"cpu": %d, "gpu": "0.5", "memory": "1GiB"}`, p.Workers), nil
}

func (sizedTrainable) Train(_ context.Context, run sdk.Run) error {
	return run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: 1}}, Done: true}, nil)
}

// reports is a trainable that reports the same list of results in each trial.
func reports(results ...sdk.Result) sdk.TrainablePlugin {
	return sdk.TrainablePlugin{
		Info: sdk.Info{Name: "reports", Version: "1", Options: noOptions},
		Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			return sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
				for _, r := range results {
					if err := run.Report(r, nil); err != nil {
						return err
					}
				}
				return nil
			}), sdk.TrainableTraits{Shared: true, Reusable: true}, nil
		},
	}
}

func scores(values ...float64) (results []sdk.Result) {
	for _, x := range values {
		results = append(results, sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: x}}})
	}
	return results
}

// noOptions is the schema of plugins without options.
var noOptions = []byte(`{"type": "object", "additionalProperties": false}`)
