// Package checkup tries a plugin: whether it starts, says what it is, describes
// its options well, opens, and answers a handful of calls. It is for `tunehost
// plugins check`, while somebody writes a plugin; whether the plugin keeps all of
// the protocol is for package conformance.
package checkup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/runtimedir"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// Finding is one line of the report.
type Finding struct {
	What, Text string
	Bad        bool
}

// Try is what a plugin is tried with.
type Try struct {
	// Start starts the plugin anew. Kind "" is for what it is not known to be:
	// the plugin is then asked.
	Start func(ctx context.Context, kind sdk.Kind) (plugin.Plugin, error)
	// Kind is what is known of it, or "".
	Kind sdk.Kind
	// Options and Params are JSON objects: its options, and of a trainable the
	// parameters of a trial.
	Options, Params []byte
	// Timeout is for each call.
	Timeout time.Duration
}

// several is a plugin that may be of several kinds.
type several interface{ Infos() []sdk.Info }

// Infos starts a plugin and asks it what it is.
func Infos(ctx context.Context, start func(context.Context, sdk.Kind) (plugin.Plugin, error), kind sdk.Kind) ([]sdk.Info, error) {
	p, err := start(ctx, kind)
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.Close() }()
	if s, ok := p.(several); ok {
		return slices.Clone(s.Infos()), nil
	}
	info, err := p.Describe(ctx)
	return []sdk.Info{info}, err
}

// Run tries the plugin as every kind that it is.
func (t Try) Run(ctx context.Context) (list []Finding) {
	infos, err := Infos(ctx, t.Start, t.Kind)
	list = append(list, finding("starts", "it speaks the protocol", err))
	for _, info := range infos {
		what := string(info.Kind)
		list = append(list, finding(what, strings.TrimSpace(info.Name+" "+info.Version), describes(info)), finding(what+" options", "the schema is valid", schema(info)))
		text, err := t.calls(ctx, info.Kind)
		list = append(list, finding(what+" calls", text, err))
	}
	return list
}

func finding(what, text string, err error) Finding {
	if err != nil {
		return Finding{what, strings.ReplaceAll(err.Error(), "\n", "; "), true}
	}
	return Finding{What: what, Text: text}
}

var nameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func describes(info sdk.Info) error {
	switch {
	case !nameForm.MatchString(info.Name):
		return fmt.Errorf("its name is %q: expected lower case letters, digits and dashes", info.Name)
	case info.Version == "":
		return errors.New("it has no version")
	case info.Summary == "":
		return errors.New("it has no summary, which is one sentence for lists")
	}
	return nil
}

// schema checks that mistakes of users in the options can be found, and that
// leaving out an option is none.
func schema(info sdk.Info) error {
	var s struct {
		Type                 string
		Properties           map[string]map[string]json.RawMessage
		AdditionalProperties *bool
		Required             []string
	}
	if err := json.Unmarshal(info.Options, &s); err != nil {
		return fmt.Errorf("the schema of its options is no JSON Schema: %w", err)
	}
	if s.Type != "object" || s.AdditionalProperties == nil || *s.AdditionalProperties {
		return errors.New(`the schema of its options takes keys that mean nothing: write "type": "object" and "additionalProperties": false`)
	}
	defaults := map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		option := s.Properties[name]
		if len(option["description"]) == 0 {
			return fmt.Errorf("option %q has no description", name)
		}
		if value, ok := option["default"]; ok {
			defaults[name] = value
		} else if !slices.Contains(s.Required, name) {
			return fmt.Errorf("option %q has no default and is not required", name)
		}
	}
	if len(s.Required) > 0 {
		return nil
	}
	text, err := json.Marshal(defaults)
	if err != nil {
		return err
	}
	for _, err := range config.CheckOptions(config.PluginRef{Name: info.Name, Options: text, Pos: config.Pos{File: "its defaults"}}, info.Options) {
		return err
	}
	return nil
}

// calls opens the plugin and calls it.
func (t Try) calls(ctx context.Context, kind sdk.Kind) (string, error) {
	switch kind {
	case sdk.KindSearcher:
		return t.searcher(ctx)
	case sdk.KindScheduler:
		return t.scheduler(ctx)
	}
	return t.trainable(ctx)
}

// problem is a small one, with a parameter of each sort.
func problem() sdk.Problem {
	return sdk.Problem{
		Space: &space.Space{Params: []space.Param{
			{Name: "lr", Kind: space.Real, Low: 1e-4, High: 1, Log: true},
			{Name: "layers", Kind: space.Int, Low: 1, High: 5},
			{Name: "optimizer", Kind: space.Choice, Choices: [][]byte{[]byte(`"sgd"`), []byte(`"adam"`)}},
		}},
		Objectives: []sdk.Objective{{Metric: "loss", Mode: sdk.Min}}, Seed: 1, Trials: trials, Concurrency: 2,
	}
}

// trials is how many a searcher is asked for.
const trials = 6

func (t Try) searcher(ctx context.Context) (string, error) {
	first, err := t.suggestions(ctx)
	if err != nil {
		return "", err
	}
	second, err := t.suggestions(ctx)
	if err != nil {
		return "", err
	}
	if len(first) != len(second) || !slices.EqualFunc(first, second, equal) {
		return "", errors.New("started twice, it suggested other points to the same requests after the same events: only a request's seed may be random")
	}
	return fmt.Sprintf("%d suggestions, the same when started again", len(first)), nil
}

func equal(a, b space.Point) bool { return fmt.Sprint(a) == fmt.Sprint(b) } // NaN is the same as NaN

func (t Try) suggestions(ctx context.Context) (points []space.Point, err error) {
	p, err := t.Start(ctx, sdk.KindSearcher)
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.Close() }()
	problem := problem()
	ctx, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	s, err := p.OpenSearcher(ctx, problem, t.Options, nil)
	if err != nil {
		return nil, err
	}
	var number uint64
	for trial := range uint32(trials) {
		answer, err := s.Suggest(ctx, []sdk.Request{{Trial: trial, Seed: uint64(trial) + 1}})
		if err != nil {
			return nil, err
		}
		if len(answer.Points) == 0 {
			if answer.Status == sdk.Ready {
				return nil, errors.New("it suggested nothing, and does not say that it waits or is exhausted")
			}
			break
		}
		if err := problem.Space.Check(answer.Points[0]); err != nil {
			return nil, fmt.Errorf("its suggestion is outside the space: %w", err)
		}
		points = append(points, answer.Points[0])
		number += 2
		err = s.Observe(ctx, []sdk.Event{
			{Number: number - 1, Kind: sdk.TrialAdded, Trial: trial, Point: answer.Points[0]},
			{Number: number, Kind: sdk.TrialCompleted, Trial: trial, Attempt: 1, Iteration: 1, Losses: []float64{1 / float64(trial+1)}},
		})
		if err != nil {
			return nil, err
		}
	}
	return points, nil
}

func (t Try) scheduler(ctx context.Context) (string, error) {
	p, err := t.Start(ctx, sdk.KindScheduler)
	if err != nil {
		return "", err
	}
	defer func() { _ = p.Close() }()
	ctx, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	problem := problem()
	s, err := p.OpenScheduler(ctx, problem, t.Options, nil)
	if err != nil {
		return "", err
	}
	answer, err := s.Decide(ctx, history(problem))
	if err != nil {
		return "", err
	}
	for _, d := range answer.Decisions {
		if d.Verdict != sdk.Continue && d.Reason == "" {
			return "", fmt.Errorf("it ends a trial (event %d) without a reason, which users want to read", d.Event)
		}
	}
	return fmt.Sprintf("%d decisions, %d commands", len(answer.Decisions), len(answer.Commands)), nil
}

// history is four trials of three results each; trial 3 is the worst.
func history(p sdk.Problem) (events []sdk.Event) {
	add := func(e sdk.Event) {
		e.Number = uint64(len(events) + 1)
		events = append(events, e)
	}
	rng := space.NewRand(1)
	for trial := range uint32(4) {
		add(sdk.Event{Kind: sdk.TrialAdded, Trial: trial, Point: p.Space.Draw(rng)})
		add(sdk.Event{Kind: sdk.TrialStarted, Trial: trial, Attempt: 1})
	}
	for iteration := range uint64(3) {
		for trial := range uint32(4) {
			add(sdk.Event{Kind: sdk.ResultReported, Trial: trial, Attempt: 1, Iteration: iteration + 1, Losses: []float64{float64(trial+1) / float64(iteration+1)}})
		}
	}
	return events
}

// results is after how many a trainable is stopped.
const results = 3

func (t Try) trainable(ctx context.Context) (string, error) {
	p, err := t.Start(ctx, sdk.KindTrainable)
	if err != nil {
		return "", err
	}
	defer func() { _ = p.Close() }()
	ctx, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	trainer, err := p.OpenTrainable(ctx, t.Options)
	if err != nil {
		return "", err
	}
	dir, err := runtimedir.MakeLarge()
	if err != nil {
		return "", err
	}
	defer func() { _ = dir.Remove() }()
	late := context.AfterFunc(ctx, trainer.Kill)
	defer late()
	trial := &sdk.Trial{ID: "check", Attempt: 1, Experiment: "check", Params: t.Params, Options: t.Options, Seed: 1, Dir: dir.Path(), Resources: []byte(`{"cpu":"1"}`), GraceSeconds: 10}
	if err := trainer.Send([]train.Command{{Kind: train.Start, Run: 1, Trial: trial}}); err != nil {
		return "", err
	}
	return follow(ctx, trainer)
}

// follow lets the trial report some results, and stops it.
func follow(ctx context.Context, trainer plugin.Trainer) (string, error) {
	reported := 0
	for {
		events, err := trainer.Recv()
		if ctx.Err() != nil {
			return "", fmt.Errorf("after %d results the trial did not go on within the time for a check", reported)
		}
		if err != nil {
			return "", err
		}
		for _, e := range events {
			switch e.Kind {
			case train.Result:
				reported++
				next := train.Command{Kind: train.Continue, Run: 1, Credits: 1}
				if reported == results {
					next = train.Command{Kind: train.Stop, Run: 1}
				}
				if err := trainer.Send([]train.Command{next}); err != nil {
					return "", err
				}
			case train.Ended:
				return verdict(reported, e.Error)
			}
		}
	}
}

func verdict(reported int, failure string) (string, error) {
	switch {
	case failure != "":
		return "", fmt.Errorf("the trial failed after %d results: %s", reported, failure)
	case reported == 0:
		return "", errors.New("the trial ended without a result")
	case reported > results:
		return "", fmt.Errorf("the trial was told to stop after %d results and reported %d", results, reported)
	}
	return fmt.Sprintf("a trial of %d results", reported), nil
}

// Object says whether a text is a JSON object.
func Object(text []byte) error {
	var o map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimSpace(text), &o); err != nil {
		return errors.New("expected a JSON object")
	}
	return nil
}
