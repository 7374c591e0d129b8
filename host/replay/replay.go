// Package replay runs the record of an experiment again and compares: the machine, the
// searcher and the scheduler must do what they did then.
package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/record"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/points"
	"github.com/tunehost/tunehost/host/consult"
	"github.com/tunehost/tunehost/host/consult/snapshots"
	"github.com/tunehost/tunehost/host/consult/translation"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/opening"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/loading"
	"github.com/tunehost/tunehost/host/plugin/lockfile"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/unrecorded"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Result says what a replay did not compare.
type Result struct {
	// Uncompared are plugins that were not started, such as `searcher "mine"`: their
	// answers were taken from the record.
	Uncompared []string
	// Accepted are the changes of plugins that the user accepted: the program before
	// a change answered the questions that came before it.
	Accepted []lockfile.Change
	// Uncovered says what plugins that were started may have loaded that tunehost.lock does not list.
	Uncovered []string
	// Lost says that the record has lost its end, so that this was not compared; or nil.
	Lost error
}

// Options say how a record is replayed.
type Options struct {
	Plugins *bundled.Registry
	// Trust starts plugins that are not bundled.
	Trust bool
	// Waits, if set, is told what the replay waits for, such as "searcher tpe".
	Waits func(what string)
}

// Check is [Run] with bundled plugins only: the answers of others are taken from the
// record.
func Check(ctx context.Context, path string, plugins *bundled.Registry) error {
	_, err := Run(ctx, path, Options{Plugins: plugins})
	return err
}

// Run runs the record of the experiment in a directory again, without training, and
// compares: the machine must do the same twice, the searcher must make every recorded
// suggestion and the scheduler every recorded decision from what they had been told
// (B-102). Bundled plugins run in this process; others are started only with trust, and
// only if they are those that the experiment used last. The error says at which record
// the replay differs.
func Run(ctx context.Context, path string, o Options) (Result, error) {
	r, err := openReplay(ctx, path, o)
	if err != nil {
		return Result{}, err
	}
	defer r.closeAll()
	found := Result{Accepted: acceptedIn(r.storage), Uncovered: r.opener.Loader.Uncovered()}
	held, unknown := journal.Holder(r.storage.Path())
	written := unrecorded.Written(r.storage)
	hosts := uint64(0)
	err = r.record.Visit(history.Visitor{Before: r.compare, After: func(s *history.Step) error {
		if _, ok := s.Event.(*core.HostStarted); ok {
			hosts++
		}
		return r.after(s)
	}})
	found.Uncompared = r.uncompared
	if held == nil && unknown == nil {
		found.Lost = unrecorded.Event(r.storage, written, r.machine.Observations()+hosts)
	}
	return found, err
}

// acceptedIn returns the changes that tunehost.lock of an experiment lists. Errors in that
// file are reported elsewhere.
func acceptedIn(d storage.Dir) []lockfile.Change {
	if locked, err := lockfile.Read(d); err == nil && locked != nil {
		return locked.Accepted
	}
	return nil
}

// openReplay checks what can be checked before a plugin is started.
func openReplay(ctx context.Context, path string, o Options) (*replaying, error) {
	dir, err := storage.At(path)
	if err != nil {
		return nil, err
	}
	file, e, err := runfile.Read(dir)
	if err != nil {
		return nil, usererror.Wrap(err)
	}
	r := newReplaying(ctx, dir, file, e, o)
	r.await("the record of " + path)
	if r.record, err = history.Open(dir.Journal()); err != nil {
		return nil, err
	}
	r.machine, r.translate.Machine = r.record.Machine(), r.record.Machine()
	r.opener.Trusted = o.Trust
	r.at = func(extensions int) (*config.Experiment, error) { return file.ParseAt(e.Source, extensions) }
	if r.opener.Loader, err = loading.New(o.Plugins, e, filepath.Dir(file.File)); err != nil {
		return nil, err
	}
	return r, errors.Join(r.checkTrusted(int(file.Extended())), verify(dir, file))
}

// checkTrusted compares the plugins that will be started with tunehost.lock, as a run does: those of now, and those
// that the experiment had before each of its extensions.
func (r *replaying) checkTrusted(extensions int) error {
	if !r.opener.Trusted {
		return nil
	}
	for extended := range extensions + 1 {
		e, err := r.at(extended)
		if err != nil {
			return err
		}
		uses := []loading.Use{{Kind: sdk.KindSearcher, Ref: e.Searcher}}
		for _, ref := range e.Schedulers() {
			uses = append(uses, loading.Use{Kind: sdk.KindScheduler, Ref: ref})
		}
		for _, u := range uses {
			if _, err := r.opener.Loader.Load(u.Kind, u.Ref); err != nil {
				return usererror.Wrap(err)
			}
		}
	}
	return usererror.Wrap(r.opener.Loader.Listed(r.storage))
}

// verify checks that the record is whole and belongs to this run. A record that a host is
// writing to cannot be verified.
func verify(dir storage.Dir, file *runfile.File) error {
	if held, err := journal.Holder(dir.Path()); held != nil || err != nil {
		return err
	}
	id, err := file.ID()
	if err != nil {
		return err
	}
	_, err = history.Verify(dir.Journal(), id)
	return err
}

// replaying is one pass over the record, with its own plugins.
type replaying struct {
	unguard    func() // ends what its plugins leave behind
	ctx        context.Context
	storage    storage.Dir
	uncompared []string
	experiment *config.Experiment
	// at is the experiment as it was after so many extensions.
	at        func(extensions int) (*config.Experiment, error)
	extended  uint32 // so many times by now
	begins    bool   // a host begins: it has done nothing yet
	set       bool   // settings were changed that the plugins of this host were not told
	options   Options
	seed      uint64
	opener    *opening.Opener
	retelling *opening.Redelivery
	record    *history.History
	machine   *core.Machine    // the record's
	twin      *history.History // must do the same
	told      uint64           // observations before the event that is looked at
	translate *translation.Translator
	searcher  replayedSearcher
	scheduler replayedScheduler
}

// replayedSearcher is the searcher of a replay. It has not been told of untold yet. While a
// question is open, ask is that question; the first asked events of untold happened before it.
type replayedSearcher struct {
	plugin.Searcher
	untold []sdk.Event
	asked  int
	ask    core.AskSearcher
	open   bool
	plan   *points.Plan
}

type replayedScheduler struct {
	plugin.Scheduler
	untold []consult.ScheduleWork
	known  consult.Known
}

func newReplaying(ctx context.Context, dir storage.Dir, file *runfile.File, e *config.Experiment,
	o Options) *replaying {
	guard := o.Plugins.Guard()
	r := &replaying{unguard: guard.Close, ctx: ctx, storage: dir, experiment: e, seed: file.Seed, twin: history.New(),
		options: o,
		opener: &opening.Opener{Experiment: e, Seed: file.Seed, Capacity: file.Capacity, Bundled: o.Plugins,
			BaseDir: filepath.Dir(file.File), Log: hostlog.New(hclog.NewNullLogger()),
			LogPath: dir.Log(), Clock: clock.System{}, InProcess: true,
			Marked: exec.Marked{Mark: guard.Mark, Guard: guard.Start}}}
	encode := func(params []byte) (space.Point, error) { return config.PointOf(r.experiment.Space, params) }
	r.searcher.plan, r.scheduler.known = points.NewPlan(e), consult.Known{}
	r.translate = &translation.Translator{Encode: encode}
	r.retelling = &opening.Redelivery{Past: opening.PastIn(dir.Journal()), Encode: encode}
	return r
}

func (r *replaying) await(what string) {
	if r.options.Waits != nil {
		r.options.Waits(what)
	}
}

func (r *replaying) closeAll() {
	r.close()
	r.unguard()
	_ = r.record.Close() // open for reading only
}

func (r *replaying) close() {
	if r.searcher.Searcher != nil {
		_ = r.searcher.Close()
	}
	if r.scheduler.Scheduler != nil {
		_ = r.scheduler.Close()
	}
	r.searcher.Searcher, r.scheduler.Scheduler = nil, nil
}

// compare compares the answer of a plugin, before the machine applies it.
func (r *replaying) compare(x history.Entry) (err error) {
	r.told = r.machine.Observations()
	switch e := x.Event.(type) {
	case *core.SuggestionsReceived:
		err = r.suggested(e)
	case *core.SchedulerDecided:
		err = r.decided(e)
	}
	return r.placed(x, err)
}

// placed adds to an error the record that it is about.
func (r *replaying) placed(x history.Entry, err error) error {
	if err != nil {
		return fmt.Errorf("%s: record %d: %w", r.storage.Path(), x.Number, err)
	}
	return nil
}

// after compares the machine's actions, and queues events and requests for plugins.
func (r *replaying) after(s *history.Step) error { return r.placed(s.Entry, r.applied(s)) }

func (r *replaying) applied(s *history.Step) error {
	again, err := r.twin.Apply(s.Bytes)
	if err != nil {
		return err
	}
	if !same(s.Actions, again.Actions) {
		return fmt.Errorf("the machine does %s, and the second time %s", words(s.Actions), words(again.Actions))
	}
	if r.opens(s.Event) {
		if err := r.reopen(r.told); err != nil {
			return err
		}
	}
	return r.carryOut(s.Actions)
}

// opens reports whether the host opened its plugins with the settings that are valid now. What
// was set while it ran, only the next host told them.
func (r *replaying) opens(e core.Event) bool {
	switch e.(type) {
	case *core.ExperimentStarted:
		return true
	case *core.HostStarted:
		set := r.set
		r.begins, r.set = true, false
		return set
	case *core.SettingsChanged:
		r.set = r.set || !r.begins
		return r.begins
	}
	r.begins = false
	return false
}

// reopen opens the plugins with the settings that are valid from now on, and tells them what
// happened up to told.
func (r *replaying) reopen(told uint64) error {
	defer r.await("the replay of " + r.storage.Path())
	r.close()
	spec := r.machine.Spec()
	if err := r.extend(spec.Extended); err != nil {
		return err
	}
	e := *r.experiment
	e.Concurrency = int64(spec.Concurrency)
	o := *r.opener
	o.Experiment = &e
	o.Planned = &spec.Trials
	var err error
	if len(r.searcher.untold) > 0 {
		told = r.searcher.untold[0].Number - 1
	}
	if r.compared(sdk.KindSearcher, e.Searcher) {
		r.await("searcher " + e.Searcher.Name)
		if r.searcher.Searcher, err = o.Searcher(r.ctx, r.retelling, told, &snapshots.Snapshots{}); err != nil {
			return err
		}
	}
	if r.compared(sdk.KindScheduler, e.Schedulers()...) {
		r.await("scheduler " + e.Scheduler.Name)
		r.scheduler.Scheduler, err = o.Scheduler(r.ctx, r.retelling, r.machine.Decided(), &snapshots.Snapshots{})
	}
	return err
}

// compared reports whether all plugins of refs may be started, and notes those that may not.
func (r *replaying) compared(kind sdk.Kind, refs ...config.PluginRef) bool {
	all := true
	for _, ref := range refs {
		if r.opener.Trusted || !opening.Foreign(r.options.Plugins, kind, ref) {
			continue
		}
		all = false
		if name := fmt.Sprintf("%s %q", kind, ref.Name); !slices.Contains(r.uncompared, name) {
			r.uncompared = append(r.uncompared, name)
		}
	}
	return all
}

// extend loads the experiment as it was after a number of extensions.
func (r *replaying) extend(extensions uint32) (err error) {
	if r.experiment, err = r.at(int(extensions)); err != nil {
		return err
	}
	r.opener.Experiment, r.searcher.plan = r.experiment, points.NewPlan(r.experiment)
	if extensions != r.extended { // it may name other plugins
		r.opener.Loader, err = loading.New(r.options.Plugins, r.experiment, r.opener.BaseDir)
	}
	r.extended = extensions
	return err
}

// carryOut queues events and requests for plugins.
func (r *replaying) carryOut(actions []core.Action) error {
	for _, a := range actions {
		switch a := a.(type) {
		case *core.Tell:
			if err := r.tell(a.Observation); err != nil {
				return err
			}
		case core.AskSearcher:
			r.searcher.ask, r.searcher.open, r.searcher.asked = a, true, len(r.searcher.untold)
		}
	}
	return nil
}

// tell queues an observation for the plugins that were started.
func (r *replaying) tell(o core.Observation) error {
	if s := &r.searcher; s.Searcher != nil {
		traits := s.Traits()
		traits.Independent = false // the searcher of a later host may be told what waits now
		err := r.translate.Tell(o, &translation.Listener{To: core.ToSearcher, Traits: traits,
			Hear: func(e sdk.Event, _ bool) { s.untold = append(s.untold, e) }})
		if err != nil {
			return err
		}
	}
	if s := &r.scheduler; s.Scheduler != nil && !r.machine.Spec().Quiet {
		return r.translate.Tell(o, &translation.Listener{To: core.ToScheduler, Traits: s.Traits(),
			Hear: func(e sdk.Event, due bool) {
				s.untold = append(s.untold, consult.Work(r.machine, e, due))
			}})
	}
	return nil
}

// suggested compares a recorded answer of the searcher with today's.
func (r *replaying) suggested(e *core.SuggestionsReceived) error {
	s := &r.searcher
	if !s.open || e.Ask != s.ask.Ask {
		return nil // to a question of a host that died
	}
	s.open = false
	if s.Searcher == nil {
		return nil
	}
	if s.asked > 0 {
		if err := s.Observe(r.ctx, s.untold[:s.asked]); err != nil {
			return err
		}
		s.untold = append([]sdk.Event(nil), s.untold[s.asked:]...)
	}
	answer, err := s.Suggest(r.ctx, s.plan.Requests(s.Traits(), r.seed, s.ask))
	if err != nil {
		return err
	}
	if got := core.SearcherStatus(answer.Status); got != e.Status || len(answer.Points) != len(e.Suggestions) {
		return fmt.Errorf("searcher %s: question %d was answered with %d suggestions and status %d, now it is %d "+
			"and %d",
			r.experiment.Searcher.Name, e.Ask, len(e.Suggestions), e.Status, len(answer.Points), got)
	}
	for i, p := range answer.Points {
		index := s.ask.First + uint64(i)
		now, err := points.Suggest(r.experiment, r.seed, index, p)
		if err != nil {
			return err
		}
		if was := e.Suggestions[i].Params; !bytes.Equal(was, now.Params) {
			return fmt.Errorf("searcher %s: suggestion %d was %s, now it is %s", r.experiment.Searcher.Name, index, was,
				now.Params)
		}
	}
	return nil
}

// decided compares a recorded answer of the scheduler, to everything up to Through, with
// today's.
func (r *replaying) decided(e *core.SchedulerDecided) error {
	s := &r.scheduler
	if s.Scheduler == nil {
		return nil
	}
	var events []sdk.Event
	var due []uint64
	for len(s.untold) > 0 && s.untold[0].Event.Number <= e.Through {
		s.known.Hear(&s.untold[0])
		events = append(events, s.untold[0].Event)
		if s.untold[0].Due {
			due = append(due, s.untold[0].Event.Number)
		}
		s.untold = s.untold[1:]
	}
	answer, err := s.Decide(r.ctx, events)
	if err != nil {
		return err
	}
	now, err := consult.Decided(due, answer, func(c sdk.Command) ([]byte, error) {
		return points.Exploited(r.experiment, r.seed, points.Exploit{Point: c.Point, Trial: c.Trial,
			Through: e.Through, Donor: s.known[c.Donor]})
	})
	if err != nil {
		return err
	}
	now.Through = e.Through
	a, errA := record.Append(nil, 0, e)
	b, errB := record.Append(nil, 0, now)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		return fmt.Errorf("scheduler %s: to what happened up to %d it answered %+v, now it is %+v",
			r.experiment.Scheduler.Name, e.Through, *e, *now)
	}
	return nil
}

// same compares actions; NaN equals NaN.
func same(a, b []core.Action) bool {
	return reflect.DeepEqual(a, b) || words(a) == words(b)
}

// words returns actions with all their fields.
func words(actions []core.Action) string {
	var b strings.Builder
	for _, a := range actions {
		fmt.Fprintf(&b, "%T%+v ", a, a)
	}
	return b.String()
}
