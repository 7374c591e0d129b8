package schedtest

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Stories runs the text files (*.txt) in dir. In them, open creates a new scheduler:
//
//	open [trials=N] [concurrency=N] [seed=N] [mode=max] [objectives=(a,b)]
//	{"max": 9}
//
// and tell sends it events in one batch, one per line:
//
//	add | started | paused | completed | failed | removed | requeued trial=N
//	result trial=N iter=N loss=X
//	saved trial=N iter=N
//	search-ended
//
// A single event may also be a command. The output has a line for each decision and each command.
func Stories(t *testing.T, plugin sdk.SchedulerPlugin, sp *space.Space, dir string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no stories in %s (%v)", dir, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s := story{plugin: plugin, space: sp}
			datadriven.RunTest(t, path, s.run)
		})
	}
}

type story struct {
	plugin    sdk.SchedulerPlugin
	space     *space.Space
	scheduler sdk.Scheduler
	events    []sdk.Event // of this story since open
}

func (s *story) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "open":
		return s.open(t, d)
	case "tell":
		return s.tell(t, strings.Split(d.Input, "\n"))
	}
	return s.decide(t, []sdk.Event{s.event(t, d.Cmd, d.CmdArgs)})
}

func (s *story) open(t *testing.T, d *datadriven.TestData) string {
	p := sdk.Problem{Space: s.space}
	metrics, mode := []string{"loss"}, string(sdk.Min)
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "trials":
			p.Trials = int(number(t, a))
		case "concurrency":
			p.Concurrency = int(number(t, a))
		case "seed":
			p.Seed = uint64(number(t, a))
		case "mode":
			mode = a.Vals[0]
		case "objectives":
			metrics = a.Vals
		default:
			t.Fatalf("open: unknown argument %s", a.Key)
		}
	}
	for _, m := range metrics {
		p.Objectives = append(p.Objectives, sdk.Objective{Metric: m, Mode: sdk.Mode(mode)})
	}
	return s.opened(p, d.Input)
}

func (s *story) opened(p sdk.Problem, options string) string {
	scheduler, traits, err := s.plugin.Open(p, []byte(options))
	if err != nil {
		return "error: " + err.Error()
	}
	s.scheduler, s.events = scheduler, nil
	return fmt.Sprintf("run-ahead=%d saves=%v", traits.RunAhead, traits.Saves)
}

func (s *story) tell(t *testing.T, lines []string) string {
	var batch []sdk.Event
	for _, line := range lines {
		cmd, args, err := datadriven.ParseLine(line)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if cmd != "" {
			batch = append(batch, s.event(t, cmd, args))
		}
	}
	return s.decide(t, batch)
}

var kinds = map[string]sdk.EventKind{
	"add":              sdk.TrialAdded,
	"started":          sdk.TrialStarted,
	"result":           sdk.ResultReported,
	"paused":           sdk.TrialPaused,
	"completed":        sdk.TrialCompleted,
	"failed":           sdk.TrialFailed,
	"removed":          sdk.TrialRemoved,
	"saved":            sdk.CheckpointSaved,
	"requeued":         sdk.TrialRequeued,
	"search-ended":     sdk.SearchEnded,
	"experiment-ended": sdk.ExperimentEnded,
}

func (s *story) event(t *testing.T, cmd string, args []datadriven.CmdArg) sdk.Event {
	kind, ok := kinds[cmd]
	if !ok {
		t.Fatalf("unknown event %s", cmd)
	}
	e := sdk.Event{Number: uint64(len(s.events)) + 1, Kind: kind}
	for _, a := range args {
		set(t, &e, a)
	}
	s.events = append(s.events, e)
	return e
}

func set(t *testing.T, e *sdk.Event, a datadriven.CmdArg) {
	switch a.Key {
	case "trial":
		e.Trial = uint32(number(t, a))
	case "iter":
		e.Iteration = uint64(number(t, a))
	case "loss":
		for _, v := range a.Vals {
			e.Losses = append(e.Losses, number(t, datadriven.CmdArg{Key: a.Key, Vals: []string{v}}))
		}
	case "point":
		for _, v := range a.Vals {
			e.Point = append(e.Point, number(t, datadriven.CmdArg{Key: a.Key, Vals: []string{v}}))
		}
	default:
		t.Fatalf("unknown field %s of an event", a.Key)
	}
}

func number(t *testing.T, a datadriven.CmdArg) float64 {
	if len(a.Vals) != 1 {
		t.Fatalf("%s wants one number", a.Key)
	}
	x, err := strconv.ParseFloat(a.Vals[0], 64)
	if err != nil {
		t.Fatalf("%s: %v", a.Key, err)
	}
	return x
}

func (s *story) decide(t *testing.T, batch []sdk.Event) string {
	if s.scheduler == nil {
		t.Fatal("the story has to open a scheduler first")
	}
	out, err := s.scheduler.Decide(context.Background(), batch)
	if err != nil {
		return "error: " + err.Error()
	}
	var text strings.Builder
	for _, d := range out.Decisions {
		e := s.events[d.Event-1]
		fmt.Fprintf(&text, "%d@%d: %s\n", e.Trial, e.Iteration, decision(d))
	}
	for _, c := range out.Commands {
		fmt.Fprintln(&text, command(c))
	}
	if text.Len() == 0 {
		return "(nothing)"
	}
	return text.String()
}

func decision(d sdk.Decision) string {
	text := [...]string{"continue", "pause", "stop"}[d.Verdict]
	if d.Until > 0 {
		text += fmt.Sprintf(" until %d", d.Until)
	}
	return because(text, d.Reason)
}

func command(c sdk.Command) string {
	text := [...]string{sdk.Resume: "resume", sdk.StopTrial: "stop", sdk.Exploit: "exploit", sdk.Resize: "resize",
		sdk.StopAll: "stop all"}[c.Kind]
	if c.Kind == sdk.StopAll {
		return because("stop all", c.Reason)
	}
	text += fmt.Sprintf(" trial %d", c.Trial)
	if c.Kind == sdk.Exploit {
		text += fmt.Sprintf(" from %d@%d with %s", c.Donor, c.Iteration, point(c.Point))
	}
	if c.Kind == sdk.Resize {
		text += " to " + string(c.Resources)
	}
	return because(text, c.Reason)
}

func because(text, reason string) string {
	if reason == "" {
		return text
	}
	return text + " -- " + reason
}

func point(p space.Point) string {
	values := make([]string, len(p))
	for i, x := range p {
		values[i] = strconv.FormatFloat(x, 'g', 6, 64)
		if math.IsNaN(x) {
			values[i] = "-"
		}
	}
	return "(" + strings.Join(values, ", ") + ")"
}
