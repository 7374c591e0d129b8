package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/record"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/consulting"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/loading"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/lockfile"
	"github.com/tunehost/tunehost/host/opening"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/points"
	"github.com/tunehost/tunehost/host/runfile"
	"github.com/tunehost/tunehost/host/snapshots"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/translation"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Replayed is what a replay has left out: plugins that are not bundled, as
// `searcher "mine"`, whose answers were not compared. Accepted are the changes of
// plugins with which the user has gone on: what came before them another one answered.
type Replayed struct {
	Uncompared []string
	Accepted   []lockfile.Change
}

// Replay is [ReplayTrusting] for plugins that are bundled: what others have answered
// is taken as it was recorded.
func Replay(ctx context.Context, path string, plugins *bundled.Registry) error {
	_, err := ReplayTrusting(ctx, path, plugins, false)
	return err
}

// ReplayTrusting runs the record of the experiment in a directory again, without
// training anything, and compares: the machine must do the same twice, the searcher
// must make every recorded suggestion and the scheduler every recorded decision from
// what they had been told (B-102). Bundled plugins run in this process; others are
// started only with trust, and only if they are those that the experiment went on
// with last. The error says where the record and the replay part.
func ReplayTrusting(ctx context.Context, path string, plugins *bundled.Registry, trust bool) (Replayed, error) {
	r, err := openReplay(ctx, path, plugins, trust)
	if err != nil {
		return Replayed{}, err
	}
	defer r.closeAll()
	found := Replayed{Accepted: acceptedIn(r.storage)}
	err = r.record.Visit(history.Visitor{Before: r.compare, After: r.after})
	found.Uncompared = r.uncompared
	return found, err
}

// acceptedIn are the changes that an experiment's lock has; what is wrong with it
// others say.
func acceptedIn(d storage.Dir) []lockfile.Change {
	if locked, err := lockfile.Read(d); err == nil && locked != nil {
		return locked.Accepted
	}
	return nil
}

// openReplay checks all that can be checked before anything runs.
func openReplay(ctx context.Context, path string, plugins *bundled.Registry, trust bool) (*replaying, error) {
	dir, err := storage.At(path)
	if err != nil {
		return nil, err
	}
	file, e, err := runfile.Read(dir)
	if err != nil {
		return nil, &UserError{err}
	}
	r := newReplaying(ctx, dir, file, e, plugins)
	if r.record, err = history.Open(dir.Journal()); err != nil {
		return nil, err
	}
	r.machine, r.translate.Machine = r.record.Machine(), r.record.Machine()
	r.opener.Trusted = trust
	r.at = func(extensions int) (*config.Experiment, error) { return file.ParseAt(e.Source, extensions) }
	if r.opener.Loader, err = loading.New(plugins, e, filepath.Dir(file.File)); err != nil {
		return nil, err
	}
	return r, errors.Join(r.checkTrusted(), verify(dir, file))
}

// checkTrusted holds the plugins that will be started against the lock, as a run does.
func (r *replaying) checkTrusted() error {
	if !r.opener.Trusted {
		return nil
	}
	uses := []loading.Use{{Kind: sdk.KindSearcher, Ref: r.experiment.Searcher}}
	for _, ref := range r.experiment.Schedulers() {
		uses = append(uses, loading.Use{Kind: sdk.KindScheduler, Ref: ref})
	}
	for _, u := range uses {
		if _, err := r.opener.Loader.Load(u.Kind, u.Ref); err != nil {
			return &UserError{err}
		}
	}
	return asUser(r.opener.Loader.Allowed(r.storage))
}

// verify says whether the record is whole and this run's; of one that a host writes to
// nobody can say.
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

// replaying is a run through the record with plugins of its own.
type replaying struct {
	ctx        context.Context
	dir        string
	storage    storage.Dir
	uncompared []string
	experiment *config.Experiment
	// at is the experiment as it was after so many extensions.
	at        func(extensions int) (*config.Experiment, error)
	extended  uint32 // so many times by now
	plugins   *bundled.Registry
	seed      uint64
	opener    *opening.Opener
	retelling *opening.Retelling
	record    *history.History
	machine   *core.Machine    // the record's
	twin      *history.History // must do the same
	told      uint64           // observations before the event that is looked at
	translate *translation.Translator
	searcher  replayedSearcher
	scheduler replayedScheduler
}

// replayedSearcher has been told nothing of untold yet; ask is the question that
// is open, asked when the first asked of untold had happened.
type replayedSearcher struct {
	plugin.Searcher
	untold []sdk.Event
	asked  int
	ask    core.AskSearcher
	open   bool
}

type replayedScheduler struct {
	plugin.Scheduler
	untold []consulting.ScheduleWork
}

func newReplaying(ctx context.Context, dir storage.Dir, file *runfile.File, e *config.Experiment, plugins *bundled.Registry) *replaying {
	r := &replaying{ctx: ctx, dir: dir.Path(), storage: dir, experiment: e, seed: file.Seed, twin: history.New(),
		plugins: plugins,
		opener: &opening.Opener{Experiment: e, Seed: file.Seed, Capacity: file.Capacity, Bundled: plugins, BaseDir: filepath.Dir(file.File), Log: hostlog.New(hclog.NewNullLogger()),
			LogPath: dir.Log(), Clock: clock.System{}, Mark: local.NewMark(dir.Path()), InProcess: true}}
	encode := func(params []byte) (space.Point, error) { return config.PointOf(r.experiment.Space, params) }
	r.translate = &translation.Translator{Encode: encode}
	r.retelling = &opening.Retelling{Past: opening.PastIn(dir.Journal()), Encode: encode}
	return r
}

func (r *replaying) closeAll() {
	r.close()
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

// compare compares what a plugin answered before the machine hears of it.
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

// placed says of what differs where it is.
func (r *replaying) placed(x history.Entry, err error) error {
	if err != nil {
		return fmt.Errorf("%s: record %d: %w", r.dir, x.Number, err)
	}
	return nil
}

// after compares what the machine does, and keeps what the plugins are to be told and asked.
func (r *replaying) after(s *history.Step) error { return r.placed(s.Entry, r.applied(s)) }

func (r *replaying) applied(s *history.Step) error {
	again, err := r.twin.Apply(s.Bytes)
	if err != nil {
		return err
	}
	if !same(s.Actions, again.Actions) {
		return fmt.Errorf("the machine does %+v, and the second time %+v", s.Actions, again.Actions)
	}
	switch s.Event.(type) {
	case *core.ExperimentStarted, *core.SettingsChanged:
		if err := r.reopen(r.told); err != nil {
			return err
		}
	}
	return r.carryOut(s.Actions)
}

// reopen opens the plugins with the settings that hold from now on, and tells
// them what they know of what had happened up to told.
func (r *replaying) reopen(told uint64) error {
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
		if r.searcher.Searcher, err = o.Searcher(r.ctx, r.retelling, told, &snapshots.Snapshots{}); err != nil {
			return err
		}
	}
	if r.compared(sdk.KindScheduler, e.Schedulers()...) {
		r.scheduler.Scheduler, err = o.Scheduler(r.ctx, r.retelling, r.machine.Decided(), &snapshots.Snapshots{})
	}
	return err
}

// compared says whether plugins that answer as one may all be started; those that may not
// are noted.
func (r *replaying) compared(kind sdk.Kind, refs ...config.PluginRef) bool {
	all := true
	for _, ref := range refs {
		if r.opener.Trusted || !opening.Foreign(r.plugins, kind, ref) {
			continue
		}
		all = false
		if name := fmt.Sprintf("%s %q", kind, ref.Name); !slices.Contains(r.uncompared, name) {
			r.uncompared = append(r.uncompared, name)
		}
	}
	return all
}

// extend takes up the experiment as it was after so many extensions.
func (r *replaying) extend(extensions uint32) (err error) {
	if r.experiment, err = r.at(int(extensions)); err != nil {
		return err
	}
	r.opener.Experiment = r.experiment
	if extensions != r.extended { // it may name other plugins
		r.opener.Loader, err = loading.New(r.plugins, r.experiment, r.opener.BaseDir)
	}
	r.extended = extensions
	return err
}

// carryOut keeps what the plugins are to be told and asked.
func (r *replaying) carryOut(actions []core.Action) error {
	for _, a := range actions {
		switch a := a.(type) {
		case core.Tell:
			if err := r.tell(a.Observation); err != nil {
				return err
			}
		case core.AskSearcher:
			r.searcher.ask, r.searcher.open, r.searcher.asked = a, true, len(r.searcher.untold)
		}
	}
	return nil
}

// tell keeps what plugins hear that were started.
func (r *replaying) tell(o core.Observation) error {
	if s := &r.searcher; s.Searcher != nil {
		err := r.translate.Tell(o, &translation.Listener{To: core.ToSearcher, Traits: s.Traits(),
			Hear: func(e sdk.Event, _ bool) { s.untold = append(s.untold, e) }})
		if err != nil {
			return err
		}
	}
	if s := &r.scheduler; s.Scheduler != nil && !r.machine.Spec().Quiet {
		return r.translate.Tell(o, &translation.Listener{To: core.ToScheduler, Traits: s.Traits(),
			Hear: func(e sdk.Event, due bool) { s.untold = append(s.untold, consulting.ScheduleWork{Event: e, Due: due}) }})
	}
	return nil
}

// suggested compares an answer of the searcher.
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
	answer, err := s.Suggest(r.ctx, points.Requests(r.experiment.Space, r.seed, s.ask))
	if err != nil {
		return err
	}
	if got := core.SearcherStatus(answer.Status); got != e.Status || len(answer.Points) != len(e.Suggestions) {
		return fmt.Errorf("searcher %s: question %d was answered with %d suggestions and status %d, now it is %d and %d",
			r.experiment.Searcher.Name, e.Ask, len(e.Suggestions), e.Status, len(answer.Points), got)
	}
	for i, p := range answer.Points {
		index := s.ask.First + uint64(i)
		now, err := points.Suggest(r.experiment, r.seed, index, p)
		if err != nil {
			return err
		}
		if was := e.Suggestions[i].Params; !bytes.Equal(was, now.Params) {
			return fmt.Errorf("searcher %s: suggestion %d was %s, now it is %s", r.experiment.Searcher.Name, index, was, now.Params)
		}
	}
	return nil
}

// decided compares an answer of the scheduler, to all that had happened up to
// Through.
func (r *replaying) decided(e *core.SchedulerDecided) error {
	s := &r.scheduler
	if s.Scheduler == nil {
		return nil
	}
	var events []sdk.Event
	var due []uint64
	for len(s.untold) > 0 && s.untold[0].Event.Number <= e.Through {
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
	now, err := consulting.Decided(due, answer, func(p space.Point) ([]byte, error) { return points.Exploited(r.experiment, r.seed, p) })
	if err != nil {
		return err
	}
	now.Through = e.Through
	a, errA := record.Append(nil, 0, e)
	b, errB := record.Append(nil, 0, now)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		return fmt.Errorf("scheduler %s: to what happened up to %d it answered %+v, now it is %+v", r.experiment.Scheduler.Name, e.Through, *e, *now)
	}
	return nil
}

// same compares what is to be done; NaN equals NaN.
func same(a, b []core.Action) bool {
	return reflect.DeepEqual(a, b) || fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b)
}
