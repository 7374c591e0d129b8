// Command ledger is a trainable that writes a separate log of all calls, results and
// answers, for tests that check a host's record.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

var plugin = sdk.TrainablePlugin{
	Info: sdk.Info{
		Name:    "ledger",
		Version: "1.0.0",
		Summary: "Trains nothing, and keeps a log of its own of what it has reported.",
		Options: declared.Schema(),
	},
	Open: open,
}

func main() { serve.Trainable(plugin) }

type trainable struct {
	Log        string
	Iterations uint64
	Sleep      float64
	Bytes      int
}

var declared = option.Declare(func(t *trainable) []option.Option {
	return []option.Option{
		option.String("log", &t.Log, "", "Folder of the logs, one for each trial.").Required(),
		option.Int("iterations", &t.Iterations, 9, option.From(1), "Results of a trial."),
		option.Float("sleep", &t.Sleep, 0.03, option.From(0), "Seconds before each result."),
		option.Int("bytes", &t.Bytes, 20000, option.From(0), "Size of a checkpoint."),
	}
})

func open(text []byte) (sdk.Trainable, sdk.TrainableTraits, error) {
	t, err := declared.Read(text)
	return &t, sdk.TrainableTraits{Reusable: true, Saves: true}, err
}

// Train implements sdk.Trainable.
func (t *trainable) Train(_ context.Context, run sdk.Run) error {
	var params struct{ Quality float64 }
	if err := json.Unmarshal(run.Trial().Params, &params); err != nil {
		return err
	}
	a := &attempt{trainable: t, run: run, trial: run.Trial(), nonce: rand.Uint64N(1 << 50)}
	from, err := a.restore()
	if err != nil {
		return err
	}
	a.from = from
	a.log("begin", uint64(a.trial.Attempt), from)
	for i := from + 1; i <= t.Iterations; i++ {
		time.Sleep(time.Duration(t.Sleep * float64(time.Second)))
		if err := a.report(i, params.Quality); err != nil {
			return err
		}
	}
	a.log("end")
	return nil
}

// attempt is one of a trial.
type attempt struct {
	*trainable
	run   sdk.Run
	trial sdk.Trial
	nonce uint64 // no other attempt has it
	from  uint64 // iteration of the checkpoint that it continued from
}

func (a *attempt) report(i uint64, quality float64) error {
	a.log("report", i)
	err := a.run.Report(sdk.Result{Iteration: i, Metrics: []sdk.Metric{
		{Name: "score", Value: float64(i) * quality}, {Name: "nonce", Value: float64(a.nonce)},
	}}, func(dir string) error { return a.save(dir, i) })
	// Results that are older than the allowed run-ahead have been decided, and so recorded.
	if done := i - min(i, uint64(a.trial.RunAhead)); err == nil && done > a.from {
		a.log("answered", done)
	}
	return err
}

// save writes a checkpoint whose reader can detect an incomplete one.
func (a *attempt) save(dir string, i uint64) error {
	if err := os.WriteFile(filepath.Join(dir, "state"), a.state(i), 0o600); err != nil {
		return err
	}
	a.log("saved", i)
	return nil
}

func (a *attempt) state(i uint64) []byte {
	return append(strconv.AppendUint(nil, i, 10), append([]byte{'\n'},
		bytes.Repeat([]byte{byte('a' + i)}, a.Bytes)...)...)
}

func (a *attempt) restore() (from uint64, err error) {
	if a.trial.Restore == "" {
		return 0, nil
	}
	text, err := os.ReadFile(filepath.Join(a.trial.Restore, "state"))
	if err == nil {
		line, _, _ := bytes.Cut(text, []byte{'\n'})
		from, err = strconv.ParseUint(string(line), 10, 64)
	}
	if errors.Is(err, fs.ErrPermission) { // removed by a fault
		return 0, &sdk.RestoreError{Err: err}
	}
	if err != nil || !bytes.Equal(text, a.state(from)) || from != a.trial.Iteration {
		a.log("broken", from, a.trial.Iteration)
		return 0, &sdk.RestoreError{Err: fmt.Errorf("it has %d bytes of iteration %d, and should be of %d (%w)",
			len(text), from, a.trial.Iteration, err)}
	}
	return from, nil
}

// log writes a whole line to the trial's log with one write.
func (a *attempt) log(what string, numbers ...uint64) {
	line := fmt.Appendf(nil, "%s %d", what, a.nonce)
	for _, n := range numbers {
		line = fmt.Appendf(line, " %d", n)
	}
	f, err := os.OpenFile(filepath.Join(a.Log, a.trial.ID), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	if err != nil {
		panic(err) // without a log it is useless
	}
	_ = f.Close()
}
