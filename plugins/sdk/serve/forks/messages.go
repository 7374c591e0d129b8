//go:build linux

package forks

import (
	"encoding/json"
	"strconv"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// trialMessage is a trial as its process receives it; JSON objects are texts.
type trialMessage struct {
	ID              string    `json:"id"`
	Number          uint32    `json:"number"`
	Attempt         uint32    `json:"attempt"`
	Experiment      string    `json:"experiment"`
	Params          string    `json:"params"`
	Options         string    `json:"options"`
	Seed            uint64    `json:"seed"`
	Dir             string    `json:"dir"`
	Restore         string    `json:"restore"`
	Iteration       uint64    `json:"iteration"`
	Resources       string    `json:"resources"`
	Devices         []string  `json:"devices"`
	Bundles         [][]any   `json:"bundles"`
	CheckpointEvery uint64    `json:"checkpoint_every"`
	CheckpointAtEnd bool      `json:"checkpoint_at_end"`
	RunAhead        int       `json:"run_ahead"`
	GraceSeconds    float64   `json:"grace_seconds"`
	Export          []string  `json:"export"`
	ExportDir       string    `json:"export_dir"`
	Logs            [2]string `json:"logs"`
}

// startMessage is the first message to a trial's process: the trial, and whether results are confirmed.
type startMessage struct {
	trialMessage
	Confirms bool `json:"confirms"`
}

func messageOf(t *sdk.Trial) trialMessage {
	m := trialMessage{
		ID: t.ID, Number: t.Number, Attempt: t.Attempt, Experiment: t.Experiment, Params: string(t.Params),
		Options: string(t.Options), Seed: t.Seed, Dir: t.Dir, Restore: t.Restore, Iteration: t.Iteration,
		Resources: string(t.Resources), Devices: listed(t.Devices), Bundles: [][]any{},
		CheckpointEvery: t.CheckpointEvery, CheckpointAtEnd: t.CheckpointAtEnd, RunAhead: t.RunAhead,
		GraceSeconds: t.GraceSeconds, Export: listed(t.Export), ExportDir: t.ExportDir,
		Logs: [2]string{"stdout", "stderr"},
	}
	if t.Logs != nil {
		m.Logs = [2]string{t.Logs.Stdout, t.Logs.Stderr}
	}
	for _, b := range t.Bundles {
		m.Bundles = append(m.Bundles, []any{b.Node, string(b.Resources), listed(b.Devices), b.Address})
	}
	return m
}

// listed is never null in JSON.
func listed(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// orderMessage is what a trial's process is told after that.
type orderMessage struct {
	Kind    train.CommandKind `json:"kind"`
	Credits uint32            `json:"credits"`
	Dir     string            `json:"dir"`
	Paused  bool              `json:"paused"`
}

// told is what a trial's process tells.
type told struct {
	Kind          train.EventKind `json:"kind"`
	PID           uint32          `json:"pid"`
	Metrics       []metric        `json:"metrics"`
	Iteration     uint64          `json:"iteration"`
	Checkpoint    string          `json:"checkpoint"`
	Done          bool            `json:"done"`
	Error         string          `json:"error"`
	Text          string          `json:"text"`
	RestoreFailed bool            `json:"restore_failed"`
	NeverStarted  bool            `json:"never_started"`
	Format        string          `json:"format"`
	Values        string          `json:"values"`
	Hint          bool            `json:"hint"`
}

func (m *told) event(run uint64) train.Event {
	e := train.Event{
		Kind: m.Kind, Run: run, PID: m.PID, Iteration: m.Iteration, Checkpoint: m.Checkpoint, Done: m.Done,
		Error: m.Error, Text: m.Text, RestoreFailed: m.RestoreFailed, NeverStarted: m.NeverStarted,
		Format: m.Format, Hint: m.Hint,
	}
	if m.Values != "" {
		e.Values = []byte(m.Values)
	}
	for _, x := range m.Metrics {
		e.Metrics = append(e.Metrics, sdk.Metric(x))
	}
	return e
}

// metric is [NAME, VALUE]; a value that JSON has no number for is a text: "nan", "inf" or "-inf".
type metric sdk.Metric

// UnmarshalJSON implements json.Unmarshaler.
func (m *metric) UnmarshalJSON(text []byte) error {
	var parts [2]json.RawMessage
	err := json.Unmarshal(text, &parts)
	if err == nil {
		err = json.Unmarshal(parts[0], &m.Name)
	}
	if err != nil {
		return err
	}
	value := string(parts[1])
	if len(value) > 1 && value[0] == '"' {
		value = value[1 : len(value)-1]
	}
	m.Value, err = strconv.ParseFloat(value, 64)
	return err
}
