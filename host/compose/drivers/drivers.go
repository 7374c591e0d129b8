// Package drivers makes the drivers of an experiment's plugins and of its reporters.
package drivers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/attempt"
	"github.com/tunehost/tunehost/host/compose/pluginset"
	"github.com/tunehost/tunehost/host/compose/setup"
	"github.com/tunehost/tunehost/host/compose/views"
	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/host/config/points"
	"github.com/tunehost/tunehost/host/config/spec"
	"github.com/tunehost/tunehost/host/consult"
	"github.com/tunehost/tunehost/host/consult/snapshots"
	"github.com/tunehost/tunehost/host/consult/translation"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/report/publish"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// slowCall is how long a plugin's call may take before it is named.
const slowCall = 2 * time.Second

// Options are what the drivers are made of.
type Options struct {
	Setup   *setup.Setup
	Plugins *pluginset.Set
	Views   *views.Views
	Inbox   *inbox.Inbox
	// Suggestions and Decisions are where the answers of plugins go; nil: to the inbox.
	Suggestions, Decisions *inbox.Inbox
	// Known is what the scheduler knows of an earlier host; nil: it is not needed.
	Known consult.Known
	// Points remembers the points of trials that have not ended; nil: nothing is remembered.
	Points *points.Memory
}

// Drivers call the plugins and tell reporters, each in a goroutine of its own.
type Drivers struct {
	Searching  *consult.Searching
	Scheduling *consult.Scheduling
	Publishing *publish.Publisher
	// Training is nil where the caller trains.
	Training *attempt.Driver
	// Translate makes of observations what plugins are told.
	Translate *translation.Translator
	o         Options
}

// New makes the drivers, but for that of trials.
func New(o Options) *Drivers {
	b, p := o.Setup, o.Plugins
	e, seed := b.Plan.Experiment, b.File.Seed
	d, plan := &Drivers{o: o}, points.NewPlan(e)
	encode := b.PointOf
	if o.Points != nil {
		encode = o.Points.Encode(encode)
	}
	d.Publishing = publish.NewPublisher(publish.PublisherOptions{Sync: b.Sync, Fail: b.Fail,
		Synced: b.Plan.Remote.Wake, Clock: b.Options.Clock})
	d.Translate = &translation.Translator{Machine: b.Machine, Encode: encode}
	d.Searching = consult.NewSearching(consult.SearchOptions{
		Options:  d.consults(e.Searcher.Name, p.Searched, o.Suggestions),
		Searcher: p.Searcher, Told: p.Told, Suggestion: d.suggestion,
		Requests: func(a core.AskSearcher) []sdk.Request { return plan.Requests(p.Searcher.Traits(), seed, a) }})
	d.Scheduling = consult.NewScheduling(consult.ScheduleOptions{
		Options:   d.consults(spec.SchedulerNames(e), p.Scheduled, o.Decisions),
		Scheduler: p.Scheduler, Trials: b.Machine.Trials(), Rules: rulesOf(b.Machine),
		Params: func(c sdk.Command, through uint64, known consult.Known) ([]byte, error) {
			return points.Exploited(e, seed, points.Exploit{Point: c.Point, Trial: c.Trial, Through: through,
				Donor: known[c.Donor]})
		}, Known: o.Known})
	p.Searched.Later, p.Scheduled.Later = d.Publishing.Later, d.Publishing.Later
	return d
}

// rulesOf returns the rules that hold for trials: those of the record, if it has trials.
func rulesOf(m *core.Machine) core.Rules {
	if m.Trials() == 0 {
		return core.NewestRules
	}
	return m.Spec().Rules
}

// Train makes the driver of trials, unless the caller trains.
func (d *Drivers) Train() {
	if p := d.o.Plugins; p.Trainer != nil {
		d.o.Views.Trials.Sweep(d.o.Setup.Log)
		d.Training = p.Training(d.o.Inbox)
	}
}

// consults is what the drivers of searcher and scheduler have in common.
func (d *Drivers) consults(name string, kept *snapshots.Snapshots, answers *inbox.Inbox) consult.Options {
	b := d.o.Setup
	return consult.Options{Name: name, Inbox: cmp.Or(answers, d.o.Inbox), Log: b.Log, Clock: b.Options.Clock,
		Slow: slowCall, Snapshots: kept}
}

// suggestion makes a trial of a searcher's point.
func (d *Drivers) suggestion(index uint64, p space.Point) (core.Suggestion, error) {
	e := d.o.Setup.Plan.Experiment
	g, err := d.o.Points.Suggest(e, d.o.Setup.File.Seed, index, p)
	if errors.Is(err, space.ErrTight) || errors.Is(err, expr.ErrUnevaluable) { // no fault of the searcher
		return g, fmt.Errorf("suggestion %d cannot be a trial: %w", index, err)
	}
	if err != nil {
		return g, fmt.Errorf("searcher %s: its suggestion %d cannot be a trial: %w", e.Searcher.Name, index, err)
	}
	return g, d.o.Plugins.Request(&g)
}

// HandOver gives the drivers what earlier hosts left undone.
func (d *Drivers) HandOver(untold []consult.ScheduleWork, early []view.Event) {
	for _, w := range untold {
		d.Scheduling.Put(w)
	}
	for _, x := range early {
		d.Publishing.Tell(x)
	}
}

// Start runs the drivers until ctx ends, each in a goroutine of its own.
func (d *Drivers) Start(ctx context.Context) {
	go d.Searching.Run(ctx)
	go d.Scheduling.Run(ctx)
	if d.Training != nil {
		go d.Training.Run(ctx)
	}
	// What an earlier host left untold goes out at once.
	d.Scheduling.Flush()
	d.Publishing.Flush()
	d.Scheduling.CheckStuck()
}

// Leave tells the driver of trials that the host was told to end.
func (d *Drivers) Leave() {
	if d.Training != nil {
		d.Training.Leave()
	}
}

// Stop ends the drivers of plugins, training first.
func (d *Drivers) Stop() {
	if d.Training != nil {
		d.Training.Close()
	}
	d.Searching.Close()
	d.Scheduling.Close()
	<-d.Searching.Done() // a plugin is closed once nobody calls it any more
	<-d.Scheduling.Done()
}

// Publish starts to tell reporters.
func (d *Drivers) Publish(reporters []*publish.Subscriber) {
	for _, r := range reporters {
		d.Publishing.Listen(r)
		go r.Run()
	}
	go d.Publishing.Run()
}

// PublishRest tells reporters the last news, and waits for those that listen.
func (d *Drivers) PublishRest() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	d.Publishing.Close(ctx)
}

// Consult calls one plugin for which something waits, the scheduler first. Its answer, or its
// failure, is in the inbox then.
func (d *Drivers) Consult(ctx context.Context) bool {
	if busy, _ := d.Scheduling.Turn(ctx); busy { // a failure was reported
		return true
	}
	busy, _ := d.Searching.Turn(ctx)
	return busy
}
