package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Reporter appends each batch to a file in the experiment's directory.
var Reporter = sdk.ReporterPlugin{
	Info: sdk.Info{Name: "probe", Version: "1"},
	Open: func(e sdk.Experiment, options []byte) (sdk.Reporter, uint64, error) {
		o := read(options)
		if o.Do == "refuse" {
			return nil, 0, errors.New("no such server")
		}
		return &reporter{o: o, e: e}, e.Told + 1, nil
	},
}

type reporter struct {
	o Options
	e sdk.Experiment
}

func (r *reporter) Report(_ context.Context, events []sdk.ReporterEvent) error {
	switch r.o.Do {
	case "panic":
		panic("no luck")
	case "fail":
		return errors.New("the server\nis down")
	case "hang":
		<-make(chan bool)
	}
	f, err := os.OpenFile(filepath.Join(r.e.Dir, r.e.Name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for i := range events {
		if t := events[i].Result; t != nil {
			t.Metrics = t.Metrics[1:] // JSON has no NaN
		}
	}
	return errors.Join(json.NewEncoder(f).Encode(events), f.Close())
}

// Close leaves a mark.
func (r *reporter) Close() error {
	return os.WriteFile(filepath.Join(r.e.Dir, "closed"), nil, 0o600)
}

// reporterEvents returns n results.
func reporterEvents(n int) []sdk.ReporterEvent {
	events := make([]sdk.ReporterEvent, n)
	for i := range events {
		events[i] = sdk.ReporterEvent{Number: uint64(2*i + 7), Kind: sdk.ReportResult, Time: time.Unix(1, 5),
			Trial: &sdk.ReportedTrial{Number: 3, ID: "00003_x", Dir: "/t", State: "RUNNING", Attempt: 2,
				Params: []byte(`{"a":1}`)},
			Result: &sdk.ReportedResult{Metrics: []sdk.Metric{{Name: "nan", Value: math.NaN()},
				{Name: "loss", Value: 0.5}}, Iteration: uint64(i), Done: true, PID: 9, Host: "h"}}
	}
	return events
}

func openReporter(t *testing.T, start Start, options []byte) (plugin.Reporter, sdk.Experiment, error) {
	t.Helper()
	e := sdk.Experiment{Name: "digits", Dir: t.TempDir(), Told: 41, Problem: Problem()}
	r, err := start(t, sdk.KindReporter).OpenReporter(t.Context(), e, options)
	return r, e, err
}

// B-127
func tellsReporter(t *testing.T, start Start) {
	r, e, err := openReporter(t, start, nil)
	if err != nil || r.After() != 42 {
		t.Fatal(r, err)
	}
	want := append([]sdk.ReporterEvent{{Number: 1, Kind: sdk.ReportStarted, Resumed: true, Reason: "x",
		Time: time.Unix(0, 1)}}, reporterEvents(3000)...)
	if err := r.Report(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(e.Dir, "closed")); err != nil {
		t.Error("it was not closed")
	}
	text, err := os.ReadFile(filepath.Join(e.Dir, e.Name))
	if err != nil {
		t.Fatal(err)
	}
	var got []sdk.ReporterEvent
	for line := range strings.Lines(string(text)) {
		var batch []sdk.ReporterEvent
		if err := json.Unmarshal([]byte(line), &batch); err != nil {
			t.Fatal(err)
		}
		got = append(got, batch...)
	}
	want = append(want[:1:1], reporterEvents(3000)...)
	for i := range want[1:] {
		want[i+1].Result.Metrics = want[i+1].Result.Metrics[1:]
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}

func reporterFails(t *testing.T, start Start) {
	if _, _, err := openReporter(t, start, Do("refuse")); true {
		wants(t, err, plugin.Refused, "refused: no such server")
	}
	for do, want := range map[string]string{"panic": "panic in Report: no luck",
		"fail": "failed in Report: the server / is down"} {
		r, _, err := openReporter(t, start, Do(do))
		if err != nil {
			t.Fatal(err)
		}
		wants(t, r.Report(t.Context(), reporterEvents(1)), plugin.Failed, want)
	}
	r, _, err := openReporter(t, start, Do("hang"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	wants(t, r.Report(ctx, reporterEvents(1)), plugin.Hung, "did not answer Report within its deadline")
	if err := r.Report(t.Context(), reporterEvents(1)); err == nil {
		t.Error("one that hung answers")
	}
	if _, err := start(t, sdk.KindSearcher).OpenReporter(t.Context(), sdk.Experiment{Problem: Problem()},
		nil); err == nil || !strings.Contains(fmt.Sprint(err), "is not a reporter") {
		t.Error(err)
	}
}
