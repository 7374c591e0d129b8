package plugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// StrikesOut failures end the supervision (B-077): at the same call, however long
// each took, or at any calls within StrikeWindow.
const (
	StrikesOut   = 3
	StrikeWindow = time.Minute
)

// Strikes are the last failures of a plugin.
type Strikes struct{ at []time.Time }

// Out notes a failure and reports whether it was one too many.
func (s *Strikes) Out(now time.Time) bool {
	s.at = append(s.at, now)
	if len(s.at) > StrikesOut {
		s.at = s.at[1:]
	}
	return len(s.at) == StrikesOut && now.Sub(s.at[0]) < StrikeWindow
}

// History tells events again: those whose number n has after < n <= through and
// that the plugin had been told, in order, in batches. It returns tell's error.
type History func(after, through uint64, tell func([]sdk.Event) error) error

// Supervision is how a searcher or scheduler is kept alive. It holds no
// history of its own: a restarted plugin is given its last snapshot, if there
// is one, and is told the events since by History.
type Supervision struct {
	// Name is the plugin's, as `searcher "tpe"`.
	Name    string
	History History
	// Now is the clock.
	Now func() time.Time
	// Limit, if set, is the deadline of each try of a call; 0: the caller's
	// context alone. Opening it has those that its open function sets.
	Limit func(deadlines.Call) time.Duration
	// Watch, if set, is called when a call begins that has a deadline; what it
	// returns, when the call has ended.
	Watch func(c deadlines.Call, limit time.Duration) (end func())
	// Restarted, if set, hears of each failure before the restart.
	Restarted func(failure error)

	// Forgot, if set, hears why a snapshot is not used any more: the plugin
	// cannot be opened with it, or fails in its first call with it. It is told
	// the whole history instead, which is no failure of its own.
	Forgot func(why error)

	// Snapshot and SnapshotAt are a snapshot to begin with, and the number of
	// the last event in it. Through is the number of the last event that the
	// plugin shall be told when it is first opened: those of a resumed
	// experiment.
	Snapshot   []byte
	SnapshotAt uint64
	Through    uint64
}

// GaveUpError is the end of a supervision: the plugin failed too often. Last is
// its last failure, with the end of its log.
type GaveUpError struct {
	Name string
	// SameCall: it failed at one call again and again, and not within StrikeWindow.
	SameCall bool
	Last     error
}

func (e *GaveUpError) Error() string {
	when := "within " + StrikeWindow.String()
	if e.SameCall {
		when = "at the same call"
	}
	return fmt.Sprintf("%s failed %d times %s, and is given up; the last time: %v", e.Name, StrikesOut, when, e.Last)
}

// Unwrap returns the last failure.
func (e *GaveUpError) Unwrap() error { return e.Last }

// ErrGaveUp is what [errors.Is] finds in a *GaveUpError.
var ErrGaveUp = errors.New("the plugin failed too often")

// Is makes errors.Is(err, ErrGaveUp) true.
func (e *GaveUpError) Is(target error) bool { return target == ErrGaveUp }

// OpenAgain opens a plugin, and opens it again where its process ends meanwhile, up to
// [StrikesOut] times in all; then it returns a *[GaveUpError]. Somebody may have killed
// the process, or the kernel for want of memory. All other failures are returned at once.
func OpenAgain[T any](ctx context.Context, name string, restarted func(failure error),
	open func(context.Context) (T, error)) (T, error) {
	for failed := 1; ; failed++ {
		p, err := open(ctx)
		if FailureOf(err) != Crashed || ctx.Err() != nil {
			return p, err
		}
		if failed == StrikesOut {
			return p, &GaveUpError{Name: name, SameCall: true, Last: err}
		}
		restarted(err)
	}
}

// kept is a plugin that is kept alive.
type kept[T Instance] struct {
	Supervision
	open func(ctx context.Context, snapshot []byte) (T, error)
	// replay tells a restarted plugin events that it was told before, by the
	// call telling.
	replay  func(ctx context.Context, p T, events []sdk.Event) error
	telling deadlines.Call

	current T
	alive   bool
	closed  bool
	untried bool // opened from a snapshot, and nothing has gone well since
	strikes Strikes
}

// first opens the plugin for the first time: what it refuses then is the
// user's to mend, and is not tried again.
func (k *kept[T]) first(ctx context.Context) error {
	open := attempt[T]{deadlines.Open, func(context.Context, T) error { return nil }}
	err := k.try(ctx, open)
	if err != nil && k.untried {
		k.drop()
		k.forget(err)
		err = k.try(ctx, open)
	}
	if err == nil || FailureOf(err) == Refused || FailureOf(err) == NotStarted {
		return err
	}
	return k.do(ctx, err, open)
}

// attempt is a call that can be made again.
type attempt[T Instance] struct {
	call deadlines.Call
	make func(context.Context, T) error
}

// call makes a call, restarting the plugin and repeating the call as needed.
func (k *kept[T]) call(ctx context.Context, c deadlines.Call, f func(context.Context, T) error) error {
	if k.closed {
		return fmt.Errorf("%s is closed", k.Name)
	}
	a := attempt[T]{c, f}
	err := k.do(ctx, k.try(ctx, a), a)
	k.untried = k.untried && err != nil
	return err
}

// do repeats a call that failed with err, until it succeeds or strikes are out.
// Failures at one call count however long each took: a hang takes its time.
func (k *kept[T]) do(ctx context.Context, err error, a attempt[T]) error {
	for failed := 1; err != nil; failed++ {
		k.drop()
		if _, own := errors.AsType[*historyError](err); own || ctx.Err() != nil {
			return err // the plugin is not to blame, or the caller has left
		}
		if k.untried {
			k.forget(err)
			failed = 0
			err = k.try(ctx, a)
			continue
		}
		if soon := k.strikes.Out(k.Now()); soon || failed >= StrikesOut {
			return &GaveUpError{Name: k.Name, SameCall: !soon, Last: err}
		}
		if k.Restarted != nil {
			k.Restarted(err)
		}
		err = k.try(ctx, a)
	}
	return nil
}

// try makes a call once, on a plugin that knows all that it was told.
func (k *kept[T]) try(ctx context.Context, a attempt[T]) error {
	if !k.alive {
		if err := k.restart(ctx); err != nil || a.call == deadlines.Open {
			return err
		}
	}
	return k.timed(ctx, a.call, func(ctx context.Context) error { return a.make(ctx, k.current) })
}

// timed makes a call within its deadline.
func (k *kept[T]) timed(ctx context.Context, c deadlines.Call, f func(context.Context) error) error {
	if k.Limit == nil {
		return f(ctx)
	}
	limit := k.Limit(c)
	ctx, cancel := deadlines.Within(ctx, limit)
	defer cancel()
	if k.Watch != nil && limit > 0 {
		defer k.Watch(c, limit)()
	}
	return f(ctx)
}

// forget does without the snapshot from here on.
func (k *kept[T]) forget(why error) {
	k.Supervision.Snapshot, k.SnapshotAt, k.untried = nil, 0, false
	if k.Forgot != nil {
		k.Forgot(why)
	}
}

// restart opens the plugin and tells it again what it knew.
func (k *kept[T]) restart(ctx context.Context) error {
	k.untried = len(k.Supervision.Snapshot) > 0
	p, err := k.open(ctx, k.Supervision.Snapshot)
	if err != nil {
		return err
	}
	k.current, k.alive = p, true
	if k.Through == k.SnapshotAt {
		return nil
	}
	return k.retell(ctx)
}

// retell tells the plugin what happened since its snapshot.
func (k *kept[T]) retell(ctx context.Context) error {
	var told error
	err := k.History(k.SnapshotAt, k.Through, func(events []sdk.Event) error {
		told = k.timed(ctx, k.telling, func(ctx context.Context) error { return k.replay(ctx, k.current, events) })
		return told
	})
	if err != nil && told == nil {
		return &historyError{err}
	}
	return err
}

// historyError is a failure of the host's, which no restart mends.
type historyError struct{ error }

func (e *historyError) Unwrap() error { return e.error }

// drop ends a plugin that failed.
func (k *kept[T]) drop() {
	if k.alive {
		_ = k.current.Close() // it has failed already
		k.alive = false
	}
}

// told notes that events were observed.
func (k *kept[T]) told(events []sdk.Event) {
	if len(events) > 0 {
		k.Through = events[len(events)-1].Number
	}
}

// Traits are those of the plugin that runs.
func (k *kept[T]) Traits() sdk.Traits { return k.current.Traits() }

// Snapshots reports whether the plugin makes snapshots.
func (k *kept[T]) Snapshots() bool { return k.current.Snapshots() }

// Snapshot asks for the state and keeps it for the next restart. It is no strike
// if that fails: nothing depends on it. The plugin is restarted then, before the
// next call.
func (k *kept[T]) Snapshot(ctx context.Context) (state []byte, err error) {
	if k.closed || k.alive && !k.Snapshots() {
		return nil, fmt.Errorf("%s makes no snapshots", k.Name)
	}
	err = k.try(ctx, attempt[T]{deadlines.Snapshot, func(ctx context.Context, p T) (err error) {
		state, err = p.Snapshot(ctx)
		return err
	}})
	if err != nil {
		k.drop()
		return nil, err
	}
	k.Supervision.Snapshot, k.SnapshotAt = state, k.Through
	return state, nil
}

// Close ends the plugin.
func (k *kept[T]) Close() error {
	k.closed = true
	if !k.alive {
		return nil
	}
	k.alive = false
	return k.current.Close()
}

type keptSearcher struct{ kept[Searcher] }

// SuperviseSearcher opens a searcher that is restarted, with what it knew, when
// it crashes, hangs or answers nonsense; the call that failed is repeated. Its
// methods are for one goroutine. After [StrikesOut] failures at one call, or within
// [StrikeWindow], a call returns a *[GaveUpError].
func SuperviseSearcher(ctx context.Context, s Supervision, open func(ctx context.Context, snapshot []byte) (Searcher, error)) (Searcher, error) {
	k := &keptSearcher{kept[Searcher]{
		Supervision: s, open: open, telling: deadlines.Observe,
		replay: func(ctx context.Context, p Searcher, events []sdk.Event) error { return p.Observe(ctx, events) },
	}}
	if err := k.first(ctx); err != nil {
		k.drop()
		return nil, err
	}
	return k, nil
}

// Observe implements sdk.Searcher.
func (k *keptSearcher) Observe(ctx context.Context, events []sdk.Event) error {
	err := k.call(ctx, deadlines.Observe, func(ctx context.Context, p Searcher) error { return p.Observe(ctx, events) })
	if err == nil {
		k.told(events)
	}
	return err
}

// Suggest implements sdk.Searcher.
func (k *keptSearcher) Suggest(ctx context.Context, requests []sdk.Request) (answer sdk.Suggestions, err error) {
	err = k.call(ctx, deadlines.Suggest, func(ctx context.Context, p Searcher) (err error) {
		answer, err = p.Suggest(ctx, requests)
		return err
	})
	return answer, err
}

type keptScheduler struct{ kept[Scheduler] }

// SuperviseScheduler is [SuperviseSearcher] for schedulers. What a restarted
// scheduler answers to events that it decided before is dropped.
func SuperviseScheduler(ctx context.Context, s Supervision, open func(ctx context.Context, snapshot []byte) (Scheduler, error)) (Scheduler, error) {
	k := &keptScheduler{kept[Scheduler]{
		Supervision: s, open: open, telling: deadlines.Decide,
		replay: func(ctx context.Context, p Scheduler, events []sdk.Event) error {
			_, err := p.Decide(ctx, events)
			return err
		},
	}}
	if err := k.first(ctx); err != nil {
		k.drop()
		return nil, err
	}
	return k, nil
}

// Decide implements sdk.Scheduler.
func (k *keptScheduler) Decide(ctx context.Context, events []sdk.Event) (answer sdk.Decisions, err error) {
	err = k.call(ctx, deadlines.Decide, func(ctx context.Context, p Scheduler) (err error) {
		answer, err = p.Decide(ctx, events)
		return err
	})
	if err == nil {
		k.told(events)
	}
	return answer, err
}
