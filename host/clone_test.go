package host

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tunehost/tunehost/host/simulate"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/steer/unixsock"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// halting is a trainable whose first trial stops before its third result until it is
// let on; its state is its iteration.
type halting struct {
	reached, open chan struct{}
	once          sync.Once
}

func (g *halting) Train(_ context.Context, run sdk.Run) error {
	t := run.Trial()
	from := uint64(0)
	if t.Restore != "" {
		b, err := os.ReadFile(filepath.Join(t.Restore, "state"))
		if err == nil {
			_, err = fmt.Sscan(string(b), &from)
		}
		if err != nil {
			return &sdk.RestoreError{Err: err}
		}
	}
	for i := from + 1; i <= 4; i++ {
		if t.Number == 0 && i == 3 {
			g.once.Do(func() { close(g.reached) })
			<-g.open
		}
		err := run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: float64(i)}}, Iteration: i},
			func(dir string) error {
				return os.WriteFile(filepath.Join(dir, "state"), fmt.Append(nil, i), 0o600)
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// B-007: a trial is added that starts from another's parameters, but for those
// given, and its newest checkpoint.
func TestClone(t *testing.T) {
	g := &halting{reached: make(chan struct{}), open: make(chan struct{})}
	trainable := sdk.TrainablePlugin{
		Info: sdk.Info{Name: "halting", Version: "1", Options: noOptions},
		Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			return g, sdk.TrainableTraits{Saves: true, Shared: true, Reusable: true}, nil
		},
	}
	o, _ := quick(t, "version: 1\nobjective: {metric: score, mode: max}\ntrainable: {plugin: halting}\nspace: {x: "+
		"{uniform: [0, 1]}, y: {uniform: [0, 1]}, z: {sample: 'x + uniform(0.0, 1.0)'}, "+
		"w: {uniform: [0, 1], when: 'y > 2.0'}}\ncheckpoint: {every: 1}\n",
		trainable)
	o.Resources = "(cpu=1)"
	done := begin(t, t.Context(), o)
	<-g.reached
	dir, err := storage.At(filepath.Join(o.Storage, "test"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := unixsock.Dial(dir)
	if err != nil {
		t.Fatal(err)
	}
	same, err := c.Do(steer.Add{Clone: "0", Params: []byte("{}")})
	if err != nil || *same.Trial != 1 {
		t.Error(same, err)
	}
	other, err := c.Do(steer.Add{Clone: "0", Params: []byte(`{"y": 0.125}`)})
	if err != nil || *other.Trial != 2 {
		t.Error(other, err)
	}
	if _, err := c.Do(steer.Add{Clone: "1", Params: []byte("{}")}); err == nil {
		t.Error("a trial without a checkpoint was cloned")
	} else {
		contains(t, err.Error(), "trial 1 (", "has no checkpoint to start from")
	}
	if _, err := c.Do(steer.Add{Clone: "0", Params: []byte(`{"w": 0.5}`)}); err == nil {
		t.Error("a parameter that does not exist in the clone was dropped")
	} else {
		contains(t, err.Error(), "w does not exist with the other parameters of the clone")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	close(g.open)
	m := audit(t, (<-done).Dir, nil)
	if m.Trials() != 3 || string(m.Params(0)) != string(m.Params(1)) {
		t.Fatalf("trials %v", params(m))
	}
	var first, changed struct{ X, Y, Z float64 }
	if err := json.Unmarshal(m.Params(0), &first); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(m.Params(2), &changed); err != nil || changed.X != first.X || changed.Y != 0.125 ||
		changed.Z != first.Z {
		t.Errorf("trials %v", params(m))
	}
	if v := m.View(0); v.Results != 4 {
		t.Errorf("trial 0: %+v", v)
	}
	s, err := simulate.Backtest(t.Context(), dir.Path(), Options{Plugins: o.Plugins}, 1)
	if err != nil || s.Record.Iterations != 8 || s.Record.Trained != 8 || !s.Record.Best.Kept() {
		t.Errorf("clones count what their parent has trained: %+v, %v", s.Record, err)
	}
	for _, no := range []int{1, 2} {
		text := trialFile(t, o.Storage+"/test", fmt.Sprintf("%05d", no), "result.jsonl")
		contains(t, text, `"iteration":3,`, `"iterations_since_restore":1,`, `"iteration":4,`)
	}
}
