package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// StrikesOut failures within StrikeWindow end the supervision (B-077).
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
	// CallTimeout is the deadline of each try of a call; 0: the caller's
	// context alone.
	CallTimeout time.Duration
	// OpenTimeout is the deadline of starting and opening it together; 0:
	// CallTimeout.
	OpenTimeout time.Duration
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
	Last error
}

func (e *GaveUpError) Error() string {
	return fmt.Sprintf("%s failed %d times within %v, and is given up; the last time: %v", e.Name, StrikesOut, StrikeWindow, e.Last)
}

// Unwrap returns the last failure.
func (e *GaveUpError) Unwrap() error { return e.Last }

// ErrGaveUp is what [errors.Is] finds in a *GaveUpError.
var ErrGaveUp = errors.New("the plugin failed too often")

// Is makes errors.Is(err, ErrGaveUp) true.
func (e *GaveUpError) Is(target error) bool { return target == ErrGaveUp }

// kept is a plugin that is kept alive.
type kept[T Instance] struct {
	Supervision
	open func(ctx context.Context, snapshot []byte) (T, error)
	// replay tells a restarted plugin events that it was told before.
	replay func(ctx context.Context, p T, events []sdk.Event) error

	current T
	alive   bool
	closed  bool
	untried bool // opened from a snapshot, and nothing has gone well since
	strikes Strikes
}

// first opens the plugin for the first time: what it refuses then is the
// user's to mend, and is not tried again.
func (k *kept[T]) first(ctx context.Context) error {
	err := k.try(ctx, func(context.Context, T) error { return nil })
	if err != nil && k.untried {
		k.drop()
		k.forget(err)
		err = k.try(ctx, func(context.Context, T) error { return nil })
	}
	if err == nil || FailureOf(err) == Refused || FailureOf(err) == NotStarted {
		return err
	}
	return k.do(ctx, err, func(context.Context, T) error { return nil })
}

// call makes a call, restarting the plugin and repeating the call as needed.
func (k *kept[T]) call(ctx context.Context, f func(context.Context, T) error) error {
	if k.closed {
		return fmt.Errorf("%s is closed", k.Name)
	}
	err := k.do(ctx, k.try(ctx, f), f)
	k.untried = k.untried && err != nil
	return err
}

// do repeats a call that failed with err, until it succeeds or strikes are out.
func (k *kept[T]) do(ctx context.Context, err error, f func(context.Context, T) error) error {
	for err != nil {
		k.drop()
		if _, own := errors.AsType[*historyError](err); own || ctx.Err() != nil {
			return err // the plugin is not to blame, or the caller has left
		}
		if k.untried {
			k.forget(err)
			err = k.try(ctx, f)
			continue
		}
		if k.strikes.Out(k.Now()) {
			return &GaveUpError{Name: k.Name, Last: err}
		}
		if k.Restarted != nil {
			k.Restarted(err)
		}
		err = k.try(ctx, f)
	}
	return nil
}

// try makes a call once, on a plugin that knows all that it was told.
func (k *kept[T]) try(ctx context.Context, f func(context.Context, T) error) error {
	if !k.alive {
		if err := k.restart(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := k.deadline(ctx)
	defer cancel()
	return f(ctx, k.current)
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
	openCtx, cancel := within(ctx, cmp.Or(k.OpenTimeout, k.CallTimeout))
	defer cancel()
	k.untried = len(k.Supervision.Snapshot) > 0
	p, err := k.open(openCtx, k.Supervision.Snapshot)
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
		ctx, cancel := k.deadline(ctx)
		defer cancel()
		told = k.replay(ctx, k.current, events)
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

func (k *kept[T]) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return within(ctx, k.CallTimeout)
}

// within is a context that ends after d; 0: when its parent does.
func within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}

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
	err = k.try(ctx, func(ctx context.Context, p T) (err error) {
		state, err = p.Snapshot(ctx)
		return err
	})
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
// methods are for one goroutine. After [StrikesOut] failures within
// [StrikeWindow] a call returns a *[GaveUpError].
func SuperviseSearcher(ctx context.Context, s Supervision, open func(ctx context.Context, snapshot []byte) (Searcher, error)) (Searcher, error) {
	k := &keptSearcher{kept[Searcher]{
		Supervision: s, open: open,
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
	err := k.call(ctx, func(ctx context.Context, p Searcher) error { return p.Observe(ctx, events) })
	if err == nil {
		k.told(events)
	}
	return err
}

// Suggest implements sdk.Searcher.
func (k *keptSearcher) Suggest(ctx context.Context, requests []sdk.Request) (answer sdk.Suggestions, err error) {
	err = k.call(ctx, func(ctx context.Context, p Searcher) (err error) {
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
		Supervision: s, open: open,
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
	err = k.call(ctx, func(ctx context.Context, p Scheduler) (err error) {
		answer, err = p.Decide(ctx, events)
		return err
	})
	if err == nil {
		k.told(events)
	}
	return answer, err
}
