package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/tunehost/tunehost/host/asktell"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/plugin/standard"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// A pair is what is measured.
type pair struct {
	Searcher, Scheduler map[string]any
}

// experiment returns the experiment file.
func (p *problem) experiment(what pair, seed, workers int) ([]byte, error) {
	order := []byte{'{'}
	for i, q := range p.Space.Params {
		text, err := json.Marshal(q.declaration())
		if err != nil {
			return nil, err
		}
		if i > 0 {
			order = append(order, ',')
		}
		order = fmt.Appendf(order, "%q:%s", q.Name, text)
	}
	return json.Marshal(map[string]any{"version": 1, "name": "bench", "seed": seed, "trials": -1,
		"objective": map[string]any{"metric": "value", "mode": "min"}, "space": json.RawMessage(append(order, '}')),
		"searcher": what.Searcher, "scheduler": what.Scheduler, "concurrency": workers, "strict_metrics": false})
}

func (q *param) declaration() map[string]any {
	d := map[string]any{}
	switch {
	case q.Type == "cat":
		d["choice"] = q.Choices
	case q.Type == "int":
		d["int"] = []float64{q.Low, q.High}
		if q.Log {
			d["log"] = true
		}
	case q.Log:
		d["loguniform"] = []float64{q.Low, q.High}
	default:
		d["uniform"] = []float64{q.Low, q.High}
	}
	if q.When != nil {
		in, _ := json.Marshal(q.When.In)
		d["when"] = fmt.Sprintf("%s in %s", q.When.Param, in)
	}
	return d
}

// A job is a trial with a worker, or one that is paused.
type job struct {
	id    string
	curve []float64
	step  float64 // time of an iteration
	done  int
	next  float64 // when it reports
	order int
}

// A point is a new best value, at a time.
type point struct{ at, value float64 }

// A record is what a run gave.
type record struct {
	best         []point
	trials, full int
}

// A runner runs an experiment in virtual time.
type runner struct {
	*problem
	session *asktell.Session
	jobs    map[string]*job
	running []*job
	started int
	now     float64
	record
}

// run trains with workers until horizon, in units of the mean cost of a training.
func (p *problem) run(ctx context.Context, what pair, seed, workers int, horizon float64) (record, error) {
	source, err := p.experiment(what, seed, workers)
	if err != nil {
		return record{}, err
	}
	o := options.Options{File: "experiment", Storage: "none", Plugins: standard.Plugins(),
		Mode: options.Mode{InProcess: true, Manual: true, Source: source}}
	s, err := asktell.Start(ctx, o)
	if err != nil {
		return record{}, err
	}
	defer func() { _ = s.Close() }()
	r := &runner{problem: p, session: s, jobs: map[string]*job{}}
	for end := horizon * p.MF.MeanFullCost / float64(workers); r.now <= end; {
		if err := r.fill(ctx, workers); err != nil {
			return record{}, err
		}
		if err := r.step(ctx, end); err != nil {
			return record{}, err
		}
	}
	for i := range r.best {
		r.best[i].at *= float64(workers) / p.MF.MeanFullCost
	}
	return r.record, nil
}

// fill gives the free workers trials.
func (r *runner) fill(ctx context.Context, workers int) error {
	for len(r.running) < workers {
		a, err := r.session.Handle(ctx, asktell.Request{Kind: asktell.Ask, Time: r.time(), HasTime: true})
		if err != nil {
			return err
		}
		t, ok := a.(asktell.Trial)
		if !ok {
			if len(r.running) == 0 {
				return fmt.Errorf("%v, and nothing runs", a)
			}
			return nil
		}
		if r.jobs[t.ID] == nil {
			if err := r.begin(t); err != nil {
				return err
			}
		}
		r.start(r.jobs[t.ID], r.now)
	}
	return nil
}

func (r *runner) begin(t asktell.Trial) error {
	var config map[string]json.RawMessage
	if err := json.Unmarshal(t.Params, &config); err != nil {
		return err
	}
	curve, cost := r.train(config)
	r.jobs[t.ID] = &job{id: t.ID, curve: curve, step: cost / float64(len(curve))}
	r.trials++
	return nil
}

// start lets a job train one iteration.
func (r *runner) start(j *job, at float64) {
	r.started++
	j.next, j.order = at+j.step, r.started
	r.running = append(r.running, j)
}

// step reports the next iteration, unless it is after the end.
func (r *runner) step(ctx context.Context, end float64) error {
	slices.SortFunc(r.running, func(a, b *job) int { return cmp.Or(cmp.Compare(a.next, b.next), a.order-b.order) })
	j := r.running[0]
	if r.now = j.next; r.now > end {
		return nil
	}
	r.running = r.running[1:]
	value := j.curve[j.done]
	j.done++
	if len(r.best) == 0 || value < r.best[len(r.best)-1].value {
		r.best = append(r.best, point{r.now, value})
	}
	metrics := []sdk.Metric{{Name: "value", Value: value}}
	trial := asktell.Name{Text: j.id}
	a, err := r.session.Handle(ctx, asktell.Request{Kind: asktell.Report, Trial: trial, Metrics: metrics,
		Iteration: uint64(j.done), Time: r.time(), HasTime: true})
	if err != nil {
		return err
	}
	last := j.done == len(j.curve)
	if last {
		r.full++
	}
	switch {
	case a != asktell.Continue:
	case last:
		_, err = r.session.Handle(ctx, asktell.Request{Kind: asktell.Tell, Trial: trial, Metrics: metrics,
			Time: r.time(), HasTime: true})
	default:
		r.start(j, r.now)
	}
	return err
}

// time is what the experiment is told. It begins an hour later, since the session began with a real clock, and times
// that are not later than those would not be told ones.
func (r *runner) time() int64 { return int64(time.Hour) + int64(r.now*1e9) }
