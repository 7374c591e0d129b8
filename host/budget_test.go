package host

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// leaps is a clock on which only leaps reach what is a second away or more.
type leaps struct {
	mu     sync.Mutex
	jumped time.Duration
	timers []*leapTimer
}

type leapTimer struct {
	at   time.Time
	f    func()
	done bool
}

func (c *leaps) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.jumped)
}

func (c *leaps) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func (c *leaps) AfterFunc(d time.Duration, f func()) func() bool {
	if d < time.Second {
		return time.AfterFunc(d, f).Stop
	}
	x := &leapTimer{at: c.Now().Add(d), f: f}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timers = append(c.timers, x)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		was := x.done
		x.done = true
		return !was
	}
}

// leap lets time pass, and what is due by then happen.
func (c *leaps) leap(d time.Duration) {
	c.mu.Lock()
	c.jumped += d
	now := time.Now().Add(c.jumped)
	var due []*leapTimer
	c.timers = slices.DeleteFunc(c.timers, func(x *leapTimer) bool {
		if x.done || x.at.After(now) {
			return x.done
		}
		x.done = true
		due = append(due, x)
		return true
	})
	c.mu.Unlock()
	for _, x := range due {
		x.f()
	}
}

// B-026: the time budget counts running time over all hosts, and none of the time
// between them. Each trial takes an hour of a budget of a hundred minutes.
func TestTimeBudgetAcrossHosts(t *testing.T) {
	clock := &leaps{}
	var interrupt atomic.Pointer[context.CancelFunc]
	slow := sdk.TrainablePlugin{
		Info: sdk.Info{Name: "slow", Version: "1", Options: noOptions},
		Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			return sdk.TrainFunc(func(ctx context.Context, run sdk.Run) error {
				// Once this is answered, the host has heard that the trial has begun.
				if err := run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: 0}}}, nil); err != nil {
					return err
				}
				clock.leap(time.Hour)
				if f := interrupt.Load(); f != nil {
					(*f)()
					for {
						if err := run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: 0}}},
							nil); err != nil {
							return err
						}
					}
				}
				return run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: 1}}, Done: true}, nil)
			}), sdk.TrainableTraits{}, nil
		},
	}
	o, _ := quick(t, "version: 1\nobjective: {metric: score, mode: max}\ntrainable: {plugin: slow}\nspace: {x: "+
		"{uniform: [0, 1]}}\ntrials: -1\nconcurrency: 1\nbudget: {time: 100m}\n", slow)
	o.Clock = clock
	ctx, cancel := context.WithCancel(t.Context())
	interrupt.Store(&cancel)
	ended, err := run(ctx, o)
	if err != nil || ended.Outcome != core.InterruptedByUser {
		t.Fatalf("the first host ended %+v, %v", ended, err)
	}
	if used := time.Duration(audit(t, ended.Dir, nil).Now()); used < time.Hour {
		t.Fatalf("the first host ran for %v", used)
	}
	clock.leap(7 * 24 * time.Hour)
	interrupt.Store(nil)
	ended = finish(t, o)
	m := audit(t, ended.Dir, nil)
	attempts := 0
	for no := range core.TrialNo(m.Trials()) {
		attempts += int(m.View(no).Attempt)
	}
	// What the first host used up leaves time for one more attempt, and no other.
	if used := time.Duration(m.Now()); attempts != 2 || used < 2*time.Hour || used > 24*time.Hour ||
		!strings.Contains(ended.Reason, "time budget") {
		t.Errorf("%d attempts in %v: %+v", attempts, used, ended)
	}
}
