package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/serve/experiments"
	"github.com/tunehost/tunehost/host/serve/problem"
	"github.com/tunehost/tunehost/host/steer"
)

// done answers a request that was carried out.
type done struct {
	Message string         `json:"message" doc:"what the command line says"`
	Trial   *core.TrialNo  `json:"trial,omitempty" doc:"the added trial, of several runs the first"`
	Changed []steer.Change `json:"changed,omitempty" doc:"the changed settings"`
	Later   bool           `json:"later,omitempty" doc:"no host runs: the settings take effect with the next host"`
	// Warnings are those of the command.
	Warnings []string `json:"warnings,omitempty" doc:"settings that are probably not intended; trials that stay paused"`
}

// Once is a request that is carried out once, however often it is sent.
type Once struct {
	Key string `header:"Idempotency-Key" maxLength:"128" doc:"a second request with this key changes nothing"`
}

// change registers an operation that changes something.
func change[I any, T any](s *Server, method, path, id, summary string, f func(context.Context, *I) (T, error)) {
	huma.Register(s.api, huma.Operation{OperationID: id, Method: method, Path: v1 + path, Summary: summary,
		Tags: []string{"steer"}, MaxBodyBytes: -1, BodyReadTimeout: -1}, // the guard has the limits
		func(ctx context.Context, in *I) (*answer[T], error) {
			body, err := f(ctx, in)
			if err != nil {
				return nil, err
			}
			return &answer[T]{body}, nil
		})
}

// steerers registers the operations that change an experiment.
func (s *Server) steerers() {
	const one, trial = "/experiments/{name}", "/experiments/{name}/trials/{id}"
	post := http.MethodPost
	change(s, post, one+"/stop", "stop", "End an experiment, as `stop DIR`", s.stop)
	change(s, post, one+"/interrupt", "interrupt", "Interrupt an experiment, as `interrupt DIR`", s.interrupt)
	change(s, post, one+"/pause", "pause", "Pause an experiment, as `pause DIR`", s.pause)
	change(s, post, one+"/resume", "resume",
		"Continue a paused experiment, as `unpause DIR`, or start a host for it, as `resume DIR`", s.resume)
	change(s, post, one+"/trials", "add", "Add a trial, as `add DIR`", s.add)
	change(s, post, trial+"/stop", "stop_trial", "End a trial, as `stop DIR TRIAL`", s.stopTrial)
	change(s, post, trial+"/pause", "pause_trial", "Pause a trial, as `pause DIR TRIAL`", s.pauseTrial)
	change(s, post, trial+"/resume", "resume_trial", "Continue a paused trial, as `unpause DIR TRIAL`", s.resumeTrial)
	change(s, post, trial+"/retry", "retry_trial", "Run a failed trial again, as `retry DIR TRIAL`", s.retryTrial)
	change(s, post, trial+"/clone", "clone_trial", "Add a trial that starts from another's checkpoint", s.cloneTrial)
	change(s, http.MethodPatch, one+"/settings", "set", "Change settings, as `set DIR`", s.set)
}

// do carries out a request on an experiment.
func (s *Server) do(name string, r steer.Request) (a steer.Answer, err error) {
	return a, s.with(name, func(x *experiments.Shared) (err error) {
		if x.IsElsewhere() {
			return elsewhere(x, controlledThere)
		}
		if _, leaves := r.(steer.Interrupt); !leaves {
			if err := experiments.Room(x.Dir.Path()); err != nil {
				return problem.Of(err)
			}
		}
		h, end, err := s.handler(x)
		if err != nil {
			return refused(nil, err)
		}
		defer end()
		if a, err = h.Do(r); err != nil {
			return refused(r, err)
		}
		return nil
	})
}

const controlledThere = "an experiment can be controlled only there"

// elsewhere is the problem of a request that needs the machine which runs the experiment.
func elsewhere(x *experiments.Shared, what string) error {
	return problem.Conflict(fmt.Errorf("%s: it runs, or ran last, on another machine, and %s", x.Place(), what))
}

// refused is the problem of a request that was not carried out: the state of the experiment does not allow it. Only
// settings can still be wrong: everything else in a request was checked before.
func refused(r steer.Request, err error) error {
	p := problem.Of(err)
	_, set := r.(steer.Set)
	var as *problem.Problem
	if errors.As(p, &as) && (as.Status == http.StatusInternalServerError ||
		as.Status == http.StatusUnprocessableEntity && !set) {
		return problem.Conflict(err)
	}
	return p
}

// handler returns what carries out requests: the host or, if none runs, what changes the directory.
func (s *Server) handler(x *experiments.Shared) (steer.Handler, func(), error) {
	if h := s.handlerOf(x); h != nil {
		return h, func() {}, nil
	}
	if !x.Runs() {
		return &steer.Resting{View: x.Experiment, Shown: s.shown(x), Check: s.Check}, func() {}, nil
	}
	return x.Host()
}

func (s *Server) shown(x *experiments.Shared) string {
	if s.Shown == nil {
		return x.Place()
	}
	return s.Shown(x.Place())
}

// about carries out a request on an experiment as a whole.
func (s *Server) about(name, doing string, r steer.Request) (done, error) {
	a, err := s.do(name, r)
	return done{Message: doing + " the experiment " + name, Warnings: a.Warnings}, err
}

// aboutTrial carries out a request on a trial; request makes it of the trial's id.
func (s *Server) aboutTrial(in *Numbered, doing string, request func(id string) steer.Request) (done, error) {
	var id, title string
	err := s.withTrial(in, func(x *experiments.Shared, no core.TrialNo) error {
		id, title = fmt.Sprint(no), x.TrialName(no)
		return nil
	})
	if err == nil {
		_, err = s.do(in.Name, request(id))
	}
	return done{Message: doing + " " + title}, err
}

// OneRequest changes an experiment.
type OneRequest struct {
	Named
	Once
}

// TrialRequest changes a trial.
type TrialRequest struct {
	Numbered
	Once
}

// PlainRequest is the body of a request that has nothing in it: unknown keys are refused, as in others.
type PlainRequest struct{}

type plainOne struct {
	OneRequest
	Body *PlainRequest `required:"false"`
}

type plainTrial struct {
	TrialRequest
	Body *PlainRequest `required:"false"`
}

func (s *Server) stop(_ context.Context, in *plainOne) (done, error) {
	return s.about(in.Name, "stopping", steer.Stop{})
}

func (s *Server) interrupt(_ context.Context, in *plainOne) (done, error) {
	return s.about(in.Name, "interrupting", steer.Interrupt{})
}

// PauseRequest is the body of a request to pause.
type PauseRequest struct {
	Force bool `json:"force,omitempty" doc:"pause even if progress is lost"`
}

type pauseOne struct {
	OneRequest
	Body *PauseRequest `required:"false"`
}

func (s *Server) pause(_ context.Context, in *pauseOne) (done, error) {
	return s.about(in.Name, "pausing", steer.Pause{Force: in.Body != nil && in.Body.Force})
}

func (s *Server) stopTrial(_ context.Context, in *plainTrial) (done, error) {
	return s.aboutTrial(&in.Numbered, "stopping", func(id string) steer.Request { return steer.Stop{Trial: id} })
}

type pauseTrial struct {
	TrialRequest
	Body *PauseRequest `required:"false"`
}

func (s *Server) pauseTrial(_ context.Context, in *pauseTrial) (done, error) {
	return s.aboutTrial(&in.Numbered, "pausing", func(id string) steer.Request {
		return steer.Pause{Trial: id, Force: in.Body != nil && in.Body.Force}
	})
}

func (s *Server) resumeTrial(_ context.Context, in *plainTrial) (done, error) {
	return s.aboutTrial(&in.Numbered, "continuing", func(id string) steer.Request { return steer.Unpause{Trial: id} })
}

// RetryRequest is the body of a request to run a trial again.
type RetryRequest struct {
	Fresh bool `json:"fresh,omitempty" doc:"start from the beginning, in a new directory"`
}

type retryTrial struct {
	TrialRequest
	Body *RetryRequest `required:"false"`
}

func (s *Server) retryTrial(ctx context.Context, in *retryTrial) (done, error) {
	if x, rested, err := s.runAgain(ctx, in); err != nil || rested {
		return x, err
	}
	return s.aboutTrial(&in.Numbered, "running again", func(id string) steer.Request {
		return steer.Retry{Trial: id, Fresh: in.Body != nil && in.Body.Fresh}
	})
}

// AddRequest is the body of a request to add a trial.
type AddRequest struct {
	Params map[string]any `json:"params,omitempty" doc:"others are sampled, or those of the cloned trial"`
}

// params returns the parameters as JSON; the mistakes in them are those of the command line.
func (r *AddRequest) params(e *config.Experiment) ([]byte, error) {
	params := map[string]any{}
	if r != nil && r.Params != nil {
		params = r.Params
	}
	text, err := json.Marshal(params)
	if err == nil {
		_, err = e.ParsePoint("add", text)
	}
	return text, unplaced(err)
}

// unplaced removes the places of mistakes: they are not in what the user sent.
func unplaced(err error) error {
	var many config.Errors
	if !errors.As(err, &many) {
		return err
	}
	var all []error
	for _, one := range many {
		all = append(all, errors.New(one.Msg))
	}
	return errors.Join(all...)
}

// addTrial has a body in any case: an empty request may be one whose body was lost.
type addTrial struct {
	OneRequest
	Body AddRequest
}

type cloneTrial struct {
	TrialRequest
	Body *AddRequest `required:"false"`
}

func (s *Server) add(_ context.Context, in *addTrial) (done, error) {
	return s.added(in.Name, "", &in.Body)
}

func (s *Server) cloneTrial(_ context.Context, in *cloneTrial) (x done, err error) {
	var id string
	err = s.withTrial(&in.Numbered, func(_ *experiments.Shared, no core.TrialNo) error {
		id = fmt.Sprint(no)
		return nil
	})
	if err != nil {
		return x, err
	}
	return s.added(in.Name, id, in.Body)
}

func (s *Server) added(name, clone string, r *AddRequest) (x done, err error) {
	var params []byte
	err = s.with(name, func(e *experiments.Shared) (err error) {
		if params, err = r.params(e.Config); err != nil {
			return problem.Invalid(err)
		}
		return nil
	})
	if err != nil {
		return x, err
	}
	a, err := s.do(name, steer.Add{Params: params, Clone: clone})
	if err != nil {
		return x, err
	}
	return done{Message: fmt.Sprintf("added trial %d", *a.Trial), Trial: a.Trial}, nil
}

type setSettings struct {
	OneRequest
	Body map[string]any `doc:"keys of the experiment file, such as trials or stop.iteration, with their new values"`
}

// counts are the keys for which null does not mean the default: a client that has no number sends null.
var counts = []string{"trials", "concurrency"}

// setsOf are overrides as for the flag --set.
func setsOf(values map[string]any) (sets []string, err error) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if key == "" || strings.Contains(key, "=") {
			return nil, fmt.Errorf("settings: found the name %.60q, expected names of keys of the experiment file, "+
				`such as {"trials": 200} or {"stop.iteration": 50}`, key)
		}
		if values[key] == nil && slices.Contains(counts, key) {
			return nil, fmt.Errorf("%s: found null, expected a whole number, such as {%q: 200}; null removes other "+
				"keys, such as stop or budget.time, and restores their default", key, key)
		}
		value, err := json.Marshal(inDigits(values[key]))
		if err != nil {
			return nil, err
		}
		sets = append(sets, key+"="+string(value))
	}
	return sets, nil
}

// mostDigits is beyond the whole numbers that a float64 keeps apart.
const mostDigits = 1 << 53

// inDigits is a value in which whole numbers with an exponent are in digits: a file has 2e3 for a number with a
// fraction. Others stay as they were sent.
func inDigits(v any) any {
	switch v := v.(type) {
	case json.Number:
		x, err := v.Float64()
		if err == nil && strings.ContainsAny(v.String(), "eE") && x == math.Trunc(x) && math.Abs(x) < mostDigits {
			return int64(x)
		}
	case []any:
		for i := range v {
			v[i] = inDigits(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = inDigits(v[key])
		}
	}
	return v
}

func (s *Server) set(_ context.Context, in *setSettings) (x done, err error) {
	sets, err := setsOf(in.Body)
	if err != nil {
		return x, problem.Invalid(err)
	}
	a, err := s.do(in.Name, steer.Set{Settings: sets})
	if err != nil {
		return x, err
	}
	x = done{Message: counted(len(a.Changed)) + " changed", Changed: a.Changed, Later: a.Later,
		Warnings: a.Warnings}
	if len(a.Changed) == 0 {
		x.Message = fmt.Sprintf("nothing changed: %s has these settings already", in.Name)
	}
	return x, nil
}

// counted is a number of settings, in words.
func counted(n int) string {
	if n == 1 {
		return "1 setting"
	}
	return fmt.Sprintf("%d settings", n)
}
