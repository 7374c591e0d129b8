// Package lines is a reporter that appends each event to a file, as one line of JSON. The file
// shows which events it already has, so no event is lost or written twice when the reporter or the
// host dies.
package lines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// Plugin is the reporter to be served.
var Plugin = sdk.ReporterPlugin{
	Info: sdk.Info{
		Kind: sdk.KindReporter, Name: "lines", Version: "1.0.0",
		Summary: "Appends events to a file, as JSON lines.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct{ File string }

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Of("file", &o.File, "events.jsonl", option.NonEmpty(),
			"The file, relative to the experiment's directory."),
	}
})

func open(e sdk.Experiment, text []byte) (sdk.Reporter, uint64, error) {
	o, err := declared.Read(text)
	if err != nil {
		return nil, 0, err
	}
	if !filepath.IsAbs(o.File) {
		o.File = filepath.Join(e.Dir, o.File)
	}
	f, err := os.OpenFile(o.File, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, 0, err
	}
	after, err := last(f)
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("%s: %w", o.File, err), f.Close())
	}
	return &reporter{f}, after, nil
}

// last reads the number of the last complete line and seeks to its end; a line torn by a crash is
// overwritten.
func last(f *os.File) (number uint64, err error) {
	text, err := io.ReadAll(f)
	if err != nil {
		return 0, err
	}
	end := bytes.LastIndexByte(text, '\n') + 1
	var l line
	if end > 0 {
		begin := bytes.LastIndexByte(text[:end-1], '\n') + 1
		if err := json.Unmarshal(text[begin:end], &l); err != nil {
			return 0, fmt.Errorf("its last line was not written by this reporter: %w", err)
		}
	} else if len(text) > 0 && text[0] != '{' {
		return 0, errors.New("it was not written by this reporter")
	}
	if err := f.Truncate(int64(end)); err != nil {
		return 0, err
	}
	_, err = f.Seek(int64(end), io.SeekStart)
	return l.Number, err
}

type reporter struct{ file *os.File }

// line is an event in the file.
type line struct {
	Number    uint64          `json:"number"`
	Event     string          `json:"event"`
	Time      time.Time       `json:"time"`
	Trial     string          `json:"trial,omitempty"`
	Attempt   uint32          `json:"attempt,omitempty"`
	State     string          `json:"state,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	Metrics   map[string]any  `json:"metrics,omitempty"`
	Iteration uint64          `json:"iteration,omitempty"`
	Restored  uint64          `json:"restored,omitempty"`
	Done      bool            `json:"done,omitempty"`
	Resumed   bool            `json:"resumed,omitempty"`
	Error     string          `json:"error,omitempty"`
	Reason    string          `json:"reason,omitempty"`
}

// Report writes the events with one write. They survive a crash of this process when it returns,
// but not a crash of the machine.
func (r *reporter) Report(_ context.Context, events []sdk.ReporterEvent) error {
	var text []byte
	for i := range events {
		l, err := json.Marshal(lineOf(&events[i]))
		if err != nil {
			return err
		}
		text = append(append(text, l...), '\n')
	}
	_, err := r.file.Write(text)
	return err
}

// Close syncs the file, so that it survives a crash of the machine.
func (r *reporter) Close() error { return errors.Join(r.file.Sync(), r.file.Close()) }

func lineOf(e *sdk.ReporterEvent) line {
	l := line{Number: e.Number, Event: e.Kind.String(), Time: e.Time.UTC(), Iteration: e.Iteration,
		Restored: e.Restored, Resumed: e.Resumed, Reason: e.Reason}
	if t := e.Trial; t != nil {
		l.Trial, l.Attempt, l.State, l.Error = t.ID, t.Attempt, t.State, t.Error
		if e.Kind == sdk.ReportAdded || e.Kind == sdk.ReportRuns {
			l.Params = t.Params
		}
	}
	if r := e.Result; r != nil {
		l.Iteration, l.Done, l.Metrics = r.Iteration, r.Done, map[string]any{}
		for _, m := range r.Metrics {
			l.Metrics[m.Name] = value(m.Value)
		}
	}
	return l
}

// value returns a number, or a string for numbers that JSON lacks.
func value(x float64) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Sprint(x)
	}
	return x
}
