// Command alike is the trainable that the test in this folder runs in the language of every SDK: it
// prints, reports numbers and other values, saves, is stopped, cleans up and exports.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

func main() {
	serve.Trainable(sdk.TrainablePlugin{
		Info: sdk.Info{Name: "alike", Version: "1.0.0", Summary: "Does what a trainable can do.",
			Options: []byte(`{"type": "object"}`)},
		Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			return sdk.TrainFunc(alike), sdk.TrainableTraits{Reusable: true, Saves: true}, nil
		},
	})
}

func alike(_ context.Context, run sdk.Run) error {
	defer fmt.Println("cleaned up")
	last := 0
	sdk.ExportWith(run, func(_, dir string) error {
		return os.WriteFile(filepath.Join(dir, "model"), fmt.Appendf(nil, "model %d", last), 0o600)
	})
	for i := 1; i <= 9; i++ {
		last = i
		fmt.Println("epoch", i)
		fmt.Fprintln(os.Stderr, "warning", i)
		result := sdk.Result{
			Metrics: []sdk.Metric{{Name: "loss", Value: 1 / float64(i)}, {Name: "whole", Value: float64(2 * i)}},
			Values:  fmt.Appendf(nil, `{"note": "epoch \"%d\"", "ok": true, "sizes": [1, 2.5]}`, i),
		}
		if err := sdk.ReportState(run, result, func() ([]byte, error) {
			return fmt.Appendf(nil, "state %d", i),
				nil
		}); err != nil {
			return err
		}
	}
	return nil
}
