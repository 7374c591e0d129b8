package plugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// MaxFailures failures end the supervision (B-077): at the same call over any time, or at any calls
// within failureWindow.
const (
	MaxFailures   = 3
	failureWindow = time.Minute
)

// RecentFailures has the times of the last failures of a plugin.
type RecentFailures struct{ at []time.Time }

// TooMany records a failure and reports whether that makes [MaxFailures] within failureWindow.
func (s *RecentFailures) TooMany(now time.Time) bool {
	s.at = append(s.at, now)
	if len(s.at) > MaxFailures {
		s.at = s.at[1:]
	}
	return len(s.at) == MaxFailures && now.Sub(s.at[0]) < failureWindow
}

// History sends earlier events of the plugin again, in order and in batches: those with
// after < number <= through. It returns the error of tell.
type History func(after, through uint64, tell func([]sdk.Event) error) error

// Supervision says how to keep a searcher or scheduler alive. It holds no history: a restarted plugin
// gets its last snapshot, if there is one, and then the later events from History.
type Supervision struct {
	// Name names the plugin, as in `searcher "tpe"`.
	Name    string
	History History
	// Now is the clock.
	Now func() time.Time
	// Limit, if set, is the deadline of each try of a call; 0 leaves the caller's context alone. Opening
	// has the deadlines that its open function sets.
	Limit func(deadlines.Call) time.Duration
	// Watch, if set, is called when a call with a deadline begins; the function that it returns is called
	// when the call ends.
	Watch func(c deadlines.Call, limit time.Duration) (end func())
	// Restarted, if set, is called with each failure before the restart.
	Restarted func(failure error)
	// Placed, if set, adds to an error the place where the experiment names the plugin.
	Placed func(error) error

	// SnapshotDropped, if set, is called with the reason why a snapshot is dropped: the plugin cannot be
	// opened with it, or fails in its first call after that. The plugin then gets the whole history. This
	// does not count as a failure.
	SnapshotDropped func(why error)

	// Snapshot and SnapshotAt are the snapshot to begin with, and the number of its last event. Through is
	// the last event that the plugin gets when it is first opened, for a resumed experiment.
	Snapshot   []byte
	SnapshotAt uint64
	Through    uint64
}

// GaveUpError ends a supervision: the plugin failed too often. Last is its last failure, with the end
// of its log.
type GaveUpError struct {
	Name string
	// SameCall says that it failed repeatedly at one call, not within failureWindow.
	SameCall bool
	// AtOnce says that it was not restarted, because the same call would fail again.
	AtOnce bool
	// Call is the one that failed last.
	Call deadlines.Call
	Last error
}

func (e *GaveUpError) Error() string {
	if e.AtOnce {
		return e.Last.Error()
	}
	when := "within " + failureWindow.String()
	if e.SameCall {
		when = "at the same call"
	}
	text := fmt.Sprintf("%s failed %d times %s, and is given up; the last time: %v", e.Name, MaxFailures, when, e.Last)
	if FailureOf(e.Last) == Hung && e.Call != "" {
		text += "; deadlines." + string(e.Call) + " gives it more time"
	}
	return text
}

// Unwrap returns the last failure.
func (e *GaveUpError) Unwrap() error { return e.Last }

// ErrGaveUp matches every *GaveUpError in [errors.Is].
var ErrGaveUp = errors.New("the plugin failed too often")

// Is makes errors.Is(err, ErrGaveUp) true.
func (e *GaveUpError) Is(target error) bool { return target == ErrGaveUp }

// OpenAgain opens a plugin. If its process ends before it is open, OpenAgain tries again, up to
// [MaxFailures] times in all, and then returns a *[GaveUpError]: a user, or the kernel for lack of
// memory, may have killed the process. Other failures are returned at once.
func OpenAgain[T any](ctx context.Context, name string, restarted func(failure error),
	open func(context.Context) (T, error)) (T, error) {
	for failed := 1; ; failed++ {
		p, err := open(ctx)
		if FailureOf(err) != Crashed || ctx.Err() != nil {
			return p, err
		}
		if failed == MaxFailures {
			return p, &GaveUpError{Name: name, SameCall: true, Last: err}
		}
		restarted(err)
	}
}

// kept is a plugin that is kept alive.
type kept[T Instance] struct {
	Supervision
	open func(ctx context.Context, snapshot []byte) (T, error)
	// replay repeats events to a restarted plugin, with the method that told them first.
	replay  func(ctx context.Context, p T, events []sdk.Event) error
	telling deadlines.Call

	current T
	alive   bool
	closed  bool
	untried bool // opened from a snapshot, and no call has succeeded since
	recent  RecentFailures
}

// first opens the plugin for the first time. A refusal is the user's to correct, and is not retried.
func (k *kept[T]) first(ctx context.Context) error {
	open := attempt[T]{deadlines.Open, func(context.Context, T) error { return nil }}
	err := k.try(ctx, open)
	if err != nil && k.untried {
		k.drop()
		k.dropSnapshot(err)
		err = k.try(ctx, open)
	}
	if err == nil || FailureOf(err) == Refused || FailureOf(err) == NotStarted {
		return k.placed(err)
	}
	return k.placed(k.do(ctx, err, open))
}

// placed adds the place of the plugin to an error.
func (k *kept[T]) placed(err error) error {
	if err == nil || k.Placed == nil {
		return err
	}
	return k.Placed(err)
}

// attempt is a call that can be repeated.
type attempt[T Instance] struct {
	call deadlines.Call
	make func(context.Context, T) error
}

// call makes a call; it restarts the plugin and repeats the call as needed.
func (k *kept[T]) call(ctx context.Context, c deadlines.Call, f func(context.Context, T) error) error {
	if k.closed {
		return fmt.Errorf("%s is closed", k.Name)
	}
	a := attempt[T]{c, f}
	err := k.do(ctx, k.try(ctx, a), a)
	k.untried = k.untried && err != nil
	return k.placed(err)
}

// do repeats a call that failed with err, until it succeeds or there are too many failures. Failures
// at one call count over any time, since a hang takes long.
func (k *kept[T]) do(ctx context.Context, err error, a attempt[T]) error {
	for failed := 1; err != nil; failed++ {
		k.drop()
		if _, own := errors.AsType[*historyError](err); own || ctx.Err() != nil {
			return err // not the plugin's fault, or the caller has left
		}
		if errors.Is(err, space.ErrTight) {
			return &GaveUpError{Name: k.Name, AtOnce: true, Call: a.call, Last: err}
		}
		if k.untried {
			k.dropSnapshot(err)
			failed = 0
			err = k.try(ctx, a)
			continue
		}
		if soon := k.recent.TooMany(k.Now()); soon || failed >= MaxFailures {
			return &GaveUpError{Name: k.Name, SameCall: !soon, Call: a.call, Last: err}
		}
		if k.Restarted != nil {
			k.Restarted(err)
		}
		err = k.try(ctx, a)
	}
	return nil
}

// try makes a call once, on a plugin that knows all events.
func (k *kept[T]) try(ctx context.Context, a attempt[T]) error {
	if !k.alive {
		if err := ctx.Err(); err != nil {
			return err // a host that leaves starts no plugin
		}
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

// dropSnapshot drops the snapshot.
func (k *kept[T]) dropSnapshot(why error) {
	k.Supervision.Snapshot, k.SnapshotAt, k.untried = nil, 0, false
	if k.SnapshotDropped != nil {
		k.SnapshotDropped(why)
	}
}

// restart opens the plugin again and sends it its history.
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

// retell sends the plugin the events since its snapshot.
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

// historyError is a failure of the host, which a restart does not correct.
type historyError struct{ error }

func (e *historyError) Unwrap() error { return e.error }

// drop ends a failed plugin.
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

// Traits returns the traits of the running plugin.
func (k *kept[T]) Traits() sdk.Traits { return k.current.Traits() }

// Snapshots reports whether the plugin makes snapshots.
func (k *kept[T]) Snapshots() bool { return k.current.Snapshots() }

// Snapshot asks for the state and keeps it for the next restart. A failure here does not count, since
// nothing depends on the state; the plugin is restarted before the next call.
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

// SuperviseSearcher opens a searcher that is restarted, with its history, when it crashes, hangs or gives
// an invalid answer; the failed call is repeated. One goroutine at a time may call its methods. After
// [MaxFailures] failures at one call, or within failureWindow, a call returns a *[GaveUpError].
func SuperviseSearcher(ctx context.Context, s Supervision,
	open func(ctx context.Context, snapshot []byte) (Searcher, error)) (Searcher, error) {
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

// SuperviseScheduler is [SuperviseSearcher] for schedulers. When a restarted scheduler decides again on
// earlier events, these answers are dropped.
func SuperviseScheduler(ctx context.Context, s Supervision,
	open func(ctx context.Context, snapshot []byte) (Scheduler, error)) (Scheduler, error) {
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
