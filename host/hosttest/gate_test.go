package hosttest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/trainables/chaos"
)

// held is long, but that no trial gets beyond its fifth iteration before the test
// lets it: whatever a test does to such an experiment meets it half way, however
// slow the machine is.
var held = strings.NewReplacer("plugin: chaos", "plugin: gated", "sleep: 0.08", "sleep: 0.02").Replace(long)

// gateAt is the iteration that waits to be let go.
const gateAt = 6

// letGo lets trials go beyond the gate.
func (x *experiment) letGo(t testing.TB) {
	t.Helper()
	put(t, filepath.Join(filepath.Dir(x.File), "go"), "")
}

// gated is chaos with a gate before iteration gateAt, which a file opens.
var gated = sdk.TrainablePlugin{
	Info: sdk.Info{Name: "gated", Version: "1.0.0", Options: chaos.Plugin.Options},
	Open: func(options []byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		inner, traits, err := chaos.Plugin.Open(options)
		return sdk.TrainFunc(func(ctx context.Context, run sdk.Run) error {
			return inner.Train(ctx, waiting{Run: run, ctx: ctx})
		}), traits, err
	},
}

type waiting struct {
	sdk.Run
	ctx context.Context
}

func (w waiting) Stopped() <-chan struct{} { return w.Run.(sdk.Stopper).Stopped() }

func (w waiting) Report(r sdk.Result, save func(string) error) error {
	root := w.Trial().Dir
	for range 4 { // results, the experiment, trials, the trial
		root = filepath.Dir(root)
	}
	for r.Iteration >= gateAt {
		if _, err := os.Stat(filepath.Join(root, "go")); err == nil {
			break
		}
		select {
		case <-w.Stopped():
			return sdk.ErrStopped
		case <-w.ctx.Done():
			return sdk.ErrStopped
		case <-time.After(5 * time.Millisecond):
		}
	}
	return w.Run.Report(r, save)
}
