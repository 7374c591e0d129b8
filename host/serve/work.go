package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/asktell"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/serve/experiments"
	"github.com/tunehost/tunehost/host/serve/problem"
	"github.com/tunehost/tunehost/host/serve/workers"
	"github.com/tunehost/tunehost/host/steer"
)

// askers registers the operations of workers.
func (s *Server) askers() {
	const one, trial = "/experiments/{name}", "/experiments/{name}/trials/{id}"
	change(s, http.MethodPost, one+"/ask", "ask", "Get a trial to train, on a lease", s.ask)
	change(s, http.MethodPost, trial+"/report", "report", "Report a result of a trial, and get the decision on it",
		s.report)
	change(s, http.MethodPost, trial+"/tell", "tell", "Tell that a trial has ended", s.tell)
}

// sessions are the experiments whose trials workers train, by directory. Nothing that waits for a plugin is done with
// mu, because the workers of the other experiments have leases that end.
type sessions struct {
	mu      sync.Mutex
	open    map[string]*workers.Workers
	resumes sync.Mutex // held while one is resumed
}

// of returns the workers of an experiment that is open here; nil: it is not.
func (x *sessions) of(dir string) *workers.Workers {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.open[dir]
}

// add adds a session.
func (x *sessions) add(a *asktell.Session) *workers.Workers {
	w := workers.New(a, time.Now)
	if err := w.Listen(); err != nil {
		a.Warn("this experiment cannot be controlled by other commands: " + err.Error())
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.open[a.Dir().Path()] = w
	return w
}

// all returns those that are open now.
func (x *sessions) all() map[string]*workers.Workers {
	x.mu.Lock()
	defer x.mu.Unlock()
	return maps.Clone(x.open)
}

// close saves a session. After that nobody finds it any more.
func (x *sessions) close(dir string, w *workers.Workers) {
	_ = w.Close() // what is wrong is in the experiment's log
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.open, dir)
}

// tick does what is due, and closes what has ended, or everything.
func (x *sessions) tick(ctx context.Context, all bool) {
	for dir, w := range x.all() {
		if experiments.Room(dir) != nil {
			continue // it would wait for room; the record is whole, and what is due is done later
		}
		if ended, err := w.Tick(ctx); err != nil || all || ended {
			x.close(dir, w)
		}
	}
}

func (s *Server) manual() options.Options {
	return options.Options{Plugins: s.Registry, Output: options.Output{Stdout: io.Discard, Stderr: io.Discard}}
}

// errFinished says that an experiment has no trials for workers any more.
var errFinished = problem.Conflict(errors.New("the experiment has ended"))

// workers returns the workers of an experiment, and resumes the experiment if no host runs it. An experiment that
// has ended continues if more trials were asked for since or, with again, if the user wants it.
func (s *Server) workers(x *experiments.Shared, again *options.Again) (*workers.Workers, error) {
	if w := s.sessions.of(x.Dir.Path()); w != nil {
		return w, nil
	}
	s.sessions.resumes.Lock()
	defer s.sessions.resumes.Unlock()
	if w := s.sessions.of(x.Dir.Path()); w != nil { // in the meantime
		return w, nil
	}
	state, err := x.State()
	switch {
	case err != nil:
		return nil, err
	case x.IsElsewhere():
		return nil, elsewhere(x, "workers reach it only there")
	case !x.Manual():
		return nil, problem.Conflict(fmt.Errorf("%s trains its trials itself: POST /api/v1/experiments with "+
			"ask_and_tell begins an experiment for workers", x.ID))
	case x.Runs():
		return nil, problem.Later(x.Taken())
	case again == nil && (state == core.Finished.String() || state == core.StoppedByUser.String()):
		if more, err := x.Extended(); err != nil || !more {
			return nil, cmp.Or(err, error(errFinished))
		}
	}
	o := s.manual()
	if again != nil {
		o.Again = *again
	}
	a, err := asktell.Resume(context.Background(), x.Dir.Path(), o)
	if err != nil {
		return nil, refused(nil, err)
	}
	return s.sessions.add(a), nil
}

// working calls f with the workers of an experiment.
func (s *Server) working(name string, f func(*workers.Workers) error) error {
	return s.with(name, func(x *experiments.Shared) error {
		if err := experiments.Room(x.Dir.Path()); err != nil {
			return problem.Of(err)
		}
		w, err := s.workers(x, nil)
		if err == nil {
			err = f(w)
		}
		var gone *workers.GoneError
		var none *workers.NoTrialError
		switch {
		case errors.As(err, &none):
			return problem.NotFound(err)
		case errors.As(err, &gone):
			return problem.Conflict(err)
		case errors.Is(err, workers.ErrClosed):
			return problem.Later(err)
		}
		return workError(err)
	})
}

// workError is the problem of a worker's request: the request is wrong, unless the session is broken.
func workError(err error) error {
	var fatal *asktell.Fatal
	var p *problem.Problem
	if err == nil || errors.As(err, &fatal) || errors.As(err, &p) {
		return err
	}
	return problem.Invalid(err)
}

// AskRequest is the body of a request for a trial.
type AskRequest struct {
	Lease float64 `json:"lease_s,omitempty" minimum:"1" maximum:"86400" doc:"the lease without a report; default 60"`
}

type askOne struct {
	OneRequest
	Body *AskRequest `required:"false"`
}

// asked is the answer to a request for a trial: one, or wait, or finished.
type asked struct {
	Trial      string          `json:"trial,omitempty"`
	Number     *uint32         `json:"number,omitempty"`
	Params     json.RawMessage `json:"params,omitempty"`
	ResumeFrom uint64          `json:"resume_from,omitempty" doc:"the trial continues after this iteration"`
	Attempt    uint32          `json:"attempt,omitempty" doc:"names the lease, in reports"`
	Lease      float64         `json:"lease_s,omitempty" doc:"the lease ends so long after the last report"`
	Wait       bool            `json:"wait,omitempty" doc:"there is no trial now: ask later"`
	Finished   bool            `json:"finished,omitempty" doc:"there will be no more trials"`
}

func (s *Server) ask(ctx context.Context, in *askOne) (x asked, err error) {
	length := workers.Usual
	if in.Body != nil && in.Body.Lease > 0 {
		length = time.Duration(in.Body.Lease * float64(time.Second))
	}
	err = s.working(in.Name, func(w *workers.Workers) error {
		g, word, err := w.Ask(ctx, length)
		x.Wait, x.Finished = word == asktell.Wait, word == asktell.Finished
		if err != nil || word != "" {
			return err
		}
		x = asked{Trial: g.ID, Number: &g.Number, Params: g.Params, ResumeFrom: g.ResumeFrom, Attempt: g.Attempt,
			Lease: g.Lease.Seconds()}
		return nil
	})
	if errors.Is(err, errFinished) {
		return asked{Finished: true}, nil
	}
	return x, err
}

// Measure is a number in a request; NaN and infinities are texts.
type Measure float64

// Schema implements huma.SchemaProvider.
func (Measure) Schema(r huma.Registry) *huma.Schema { return number{}.Schema(r) }

// UnmarshalJSON implements json.Unmarshaler.
func (m *Measure) UnmarshalJSON(b []byte) error {
	for text, value := range map[string]float64{`"NaN"`: math.NaN(), `"Infinity"`: math.Inf(1),
		`"-Infinity"`: math.Inf(-1)} {
		if string(b) == text {
			*m = Measure(value)
			return nil
		}
	}
	return json.Unmarshal(b, (*float64)(m))
}

// ReportRequest is the body of a report.
type ReportRequest struct {
	Attempt   uint32             `json:"attempt" doc:"that of the ask, or of the last answer"`
	Iteration uint64             `json:"iteration,omitempty" minimum:"1" doc:"from 1; by default the next"`
	Metrics   map[string]Measure `json:"metrics" minProperties:"1"`
}

type reportOne struct {
	TrialRequest
	Body ReportRequest
}

type decided struct {
	Decision asktell.Decision `json:"decision" enum:"continue,pause,stop" doc:"after pause and stop, ask for another"`
	Attempt  uint32           `json:"attempt"`
}

func (s *Server) report(ctx context.Context, in *reportOne) (x decided, err error) {
	r := in.Body
	said, err := workers.Result(in.ID, r.Attempt, r.Iteration, r.Metrics)
	if err != nil {
		return x, problem.Invalid(err)
	}
	return x, s.working(in.Name, func(w *workers.Workers) (err error) {
		x.Decision, x.Attempt, err = w.Report(ctx, said)
		return err
	})
}

// TellRequest is the body that ends a trial.
type TellRequest struct {
	Attempt   uint32             `json:"attempt" doc:"that of the ask, or of the last answer"`
	Iteration uint64             `json:"iteration,omitempty" minimum:"1"`
	Metrics   map[string]Measure `json:"metrics,omitempty" doc:"the last result, if it was not reported"`
	// Failed is there if the trial has failed, also without a reason: the text of many exceptions is empty.
	Failed *string `json:"failed,omitempty" doc:"the trial has failed: why, or an empty text"`
}

type tellOne struct {
	TrialRequest
	Body TellRequest
}

type told struct {
	OK      bool   `json:"ok"`
	Ignored string `json:"ignored,omitempty" doc:"why the metrics, or the failure, do not count"`
}

func (s *Server) tell(ctx context.Context, in *tellOne) (x told, err error) {
	r := in.Body
	said := workers.Message{Trial: in.ID, Attempt: r.Attempt}
	if r.Failed != nil {
		said.Failed = cmp.Or(*r.Failed, asktell.NoReason)
	}
	if len(r.Metrics) > 0 {
		if r.Failed != nil {
			return x, problem.Invalid(errors.New("metrics and failed in one request"))
		}
		if said, err = workers.Result(in.ID, r.Attempt, r.Iteration, r.Metrics); err != nil {
			return x, problem.Invalid(err)
		}
	}
	return x, s.working(in.Name, func(w *workers.Workers) (err error) {
		x.Ignored, err = w.Tell(ctx, said)
		x.OK = err == nil
		return err
	})
}

// handlerOf returns what steers an experiment whose trials workers of this server train; nil: there is none.
func (s *Server) handlerOf(x *experiments.Shared) steer.Handler {
	if w := s.sessions.of(x.Dir.Path()); w != nil {
		return w
	}
	return nil
}
