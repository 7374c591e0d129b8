package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/plugin/standard"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// hill is a trainable in Go: it climbs in ten steps to a height that depends on x.
var hill = sdk.TrainablePlugin{
	Info: sdk.Info{Kind: sdk.KindTrainable, Name: "hill", Version: "1.0.0",
		Options: []byte(`{"type": "object", "additionalProperties": false}`)}, // none
	Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		return sdk.TrainFunc(climb), sdk.TrainableTraits{Shared: true, Reusable: true}, nil
	},
}

func climb(_ context.Context, run sdk.Run) error {
	var p struct{ X float64 }
	if err := json.Unmarshal(run.Trial().Params, &p); err != nil {
		return err
	}
	for i := 1; i <= 10; i++ {
		height := float64(i) * (1 - (p.X-0.5)*(p.X-0.5))
		err := run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "height", Value: height}}}, nil)
		if err != nil {
			return err // among them: the trial is to stop
		}
	}
	return nil
}

const hillside = `
version: 1
objective: {metric: height, mode: max}
trainable: {plugin: hill}
space: {x: {uniform: [0, 1]}}
trials: 8
seed: 1
`

// A program runs an experiment whose trials are a function of its own.
func ExampleRun() {
	results, err := os.MkdirTemp("", "results")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(results)
	ended, err := host.Run(context.Background(), host.Text("hill.yaml", []byte(hillside)), host.Options{
		Storage: results,
		Plugins: standard.Plugins(hill),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ended.Outcome, filepath.Base(ended.Dir))

	e, err := view.Open(ended.Dir)
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	best, ok, err := e.Best(view.Query{})
	fmt.Println(ok, err, best.Value > 9.5)
	// Output:
	// finished hill
	// true <nil> true
}

// While the experiment runs it can be looked at and steered: here it is stopped once three
// trials have ended.
func ExampleRunning() {
	results, err := os.MkdirTemp("", "results")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(results)
	watch := func(r host.Running) {
		completed := 0
		for event, err := range r.Events(context.Background()) {
			if err != nil {
				log.Print(err)
				return
			}
			if event.Kind == core.SawCompleted {
				completed++
			}
			if completed == 3 {
				break
			}
		}
		if _, err := r.Steer.Do(steer.Stop{}); err != nil {
			log.Print(err)
		}
	}
	ended, err := host.Run(context.Background(), host.Text("hill.yaml", []byte(hillside)), host.Options{
		Storage: results,
		Plugins: standard.Plugins(hill),
		Sets:    []string{"trials=-1"}, // without end
		OnStart: watch,
	})
	fmt.Println(ended.Outcome == core.StoppedByUser, err)
	// Output: true <nil>
}
