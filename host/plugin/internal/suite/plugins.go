// Package suite tests what every transport must do, with plugins that misbehave as their options say.
package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Options are the options of these plugins.
type Options struct {
	Do string `json:"do"`
}

func read(options []byte) (o Options) {
	if err := json.Unmarshal(options, &o); err != nil {
		panic(err)
	}
	return o
}

// Plugins returns the plugins of the suite for bundled.New.
func Plugins() []any { return []any{Searcher, Scheduler, Trainable, Reporter, Executor} }

// Searcher suggests points made of the request's seed and of what it observed.
var Searcher = sdk.SearcherPlugin{
	Info: sdk.Info{Name: "probe", Version: "1.2.3", Summary: "Misbehaves on demand.",
		Options: []byte(`{"type":"object"}`)},
	Open: func(p sdk.Problem, options []byte) (sdk.Searcher, sdk.Traits, error) {
		o := read(options)
		switch o.Do {
		case "refuse":
			return nil, sdk.Traits{}, errors.New("population must be even")
		case "panic in open":
			panic("no luck")
		case "nothing":
			return nil, sdk.Traits{}, nil
		}
		return &searcher{o: o, dims: len(p.Space.Params)}, sdk.Traits{RunAhead: 3, Requires: []string{"loss"}}, nil
	},
}

type searcher struct {
	o    Options
	dims int
	seen uint64
}

func (s *searcher) Observe(_ context.Context, events []sdk.Event) error {
	if s.o.Do == "fail in observe" {
		return errors.New("observed too much")
	}
	for _, e := range events {
		if e.Number != s.seen+1 {
			return fmt.Errorf("event %d after %d", e.Number, s.seen)
		}
		s.seen = e.Number
	}
	return nil
}

func (s *searcher) Suggest(ctx context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	switch s.o.Do {
	case "panic":
		panic("no luck")
	case "fail":
		return sdk.Suggestions{}, errors.New("the matrix\nis singular")
	case "hang":
		<-make(chan bool)
	case "exit":
		fmt.Fprintln(os.Stderr, "last words")
		os.Exit(3)
	case "wait":
		return sdk.Suggestions{Status: sdk.Wait}, nil
	case "few":
		return sdk.Suggestions{}, nil
	case "short":
		return sdk.Suggestions{Points: make([]space.Point, len(requests))}, nil
	}
	var answer sdk.Suggestions
	for _, r := range requests {
		p := make(space.Point, s.dims)
		for i := range p {
			p[i] = float64(r.Seed) + float64(s.seen)/1000
		}
		answer.Points = append(answer.Points, p)
	}
	return answer, nil
}

func (s *searcher) Snapshot() ([]byte, error) { return json.Marshal(s.seen) }
func (s *searcher) Restore(b []byte) error    { return json.Unmarshal(b, &s.seen) }

// Scheduler stops trials with a loss above 1, pauses those that report again, and resumes trial 7.
var Scheduler = sdk.SchedulerPlugin{
	Info: sdk.Info{Name: "probe", Version: "1"},
	Open: func(_ sdk.Problem, options []byte) (sdk.Scheduler, sdk.Traits, error) {
		return &scheduler{read(options)}, sdk.Traits{Saves: true, Again: true}, nil
	},
}

type scheduler struct{ o Options }

func (s *scheduler) Decide(_ context.Context, events []sdk.Event) (sdk.Decisions, error) {
	var d sdk.Decisions
	for _, e := range events {
		if e.Kind != sdk.ResultReported {
			continue
		}
		decision := sdk.Decision{Event: e.Number, Until: e.Iteration + 1}
		switch {
		case e.Losses[0] > 1:
			decision = sdk.Decision{Event: e.Number, Verdict: sdk.Stop, Reason: "too large"}
		case e.Again:
			decision = sdk.Decision{Event: e.Number, Verdict: sdk.Pause, Reason: "reported again"}
		}
		d.Decisions = append(d.Decisions, decision)
	}
	if s.o.Do == "twice" {
		d.Decisions = append(d.Decisions, d.Decisions...)
	}
	d.Commands = []sdk.Command{{Kind: sdk.Resume, Trial: 7, Reason: "its turn"}}
	if s.o.Do == "big" {
		d.Commands[0].Reason = strings.Repeat("x", 5<<20)
	}
	return d, nil
}

// Params are the parameters of a trial of Trainable.
type Params struct {
	Do string `json:"do"`
	N  int    `json:"n"`
}

// Trainable reports N results of loss 1/iteration.
var Trainable = sdk.TrainablePlugin{
	Info: sdk.Info{Name: "probe", Version: "1"},
	Open: func(options []byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		o := read(options)
		if o.Do == "refuse" {
			return nil, sdk.TrainableTraits{}, errors.New("no such data set")
		}
		traits := sdk.TrainableTraits{Saves: true, Reusable: o.Do == "reusable", Shared: o.Do == "shared"}
		if o.Do == "request" {
			return requester{doTrain}, traits, nil
		}
		return sdk.TrainFunc(doTrain), traits, nil
	},
}

// requester asks for as many processors as its parameter n says.
type requester struct{ sdk.TrainFunc }

func (requester) Request(params []byte) ([]byte, error) {
	var p Params
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	if p.Do == "panic" {
		panic("no luck")
	}
	return fmt.Appendf(nil, `{"cpu": %d}`, p.N), nil
}

func doTrain(ctx context.Context, run sdk.Run) error {
	var p Params
	if err := json.Unmarshal(run.Trial().Params, &p); err != nil {
		return err
	}
	run.Log("training " + run.Trial().ID)
	switch p.Do {
	case "panic":
		panic("no luck")
	case "fail":
		return errors.New("the loss is NaN")
	case "not started":
		return &sdk.StartError{Err: errors.New("train.py: no such file")}
	case "cannot restore":
		return fmt.Errorf("at the start: %w", &sdk.RestoreError{Err: errors.New("bad magic")})
	case "exit":
		fmt.Fprintln(os.Stderr, "last words")
		os.Exit(3)
	case "until killed":
		<-ctx.Done()
		return ctx.Err()
	case "until stopped":
		<-run.(sdk.Stopper).Stopped()
		return nil
	case "huge":
		return run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: strings.Repeat("n", 5<<20)}}}, nil)
	case "reject":
		run.(sdk.Rejecter).Reject("los=0.3")
	}
	save := saver(p.Do)
	for i := range p.N {
		metrics := []sdk.Metric{{Name: "loss", Value: 1 / float64(i+1)}, {Name: "nan", Value: math.NaN()}}
		err := run.Report(sdk.Result{Metrics: metrics, Done: i == p.N-1}, save)
		if err != nil && p.Do == "slow cleanup" {
			time.Sleep(20 * time.Millisecond)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func saver(do string) func(string) error {
	switch do {
	case "cannot save":
		return nil
	case "fail to save":
		return func(string) error { return errors.New("disk full") }
	case "panic to save":
		return func(string) error { panic("disk full") }
	}
	return func(dir string) error { return os.WriteFile(dir+"/model", []byte("weights"), 0o600) }
}
