package host

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/clock/clocktest"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/stoprules"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/searchers/random"
)

// B-126: a slow searcher and a slow scheduler are named, each kind of call once.
func TestSlowCallsAreNamedOnce(t *testing.T) {
	clock := clocktest.New(1)
	slowly := sdk.SearcherPlugin{
		Info: sdk.Info{Name: "slowly", Version: "1", Options: noOptions},
		Open: func(p sdk.Problem, _ []byte) (sdk.Searcher, sdk.Traits, error) {
			s, _, err := random.Plugin.Open(p, []byte("{}"))
			return &dawdling{s, clock}, sdk.Traits{}, err
		},
	}
	ponder := sdk.SchedulerPlugin{
		Info: sdk.Info{Name: "ponder", Version: "1", Options: noOptions},
		Open: func(sdk.Problem, []byte) (sdk.Scheduler, sdk.Traits, error) {
			return hearing(func(sdk.Event) { clock.Jump(3 * time.Second) }), sdk.Traits{}, nil
		},
	}
	o, seen := quick(t, search("space: {x: {uniform: [0, 1]}}\nsearcher: slowly\nscheduler: ponder\ntrials: 4\n"), slowly, ponder)
	o.Clock = clock
	finish(t, o)
	for _, what := range []string{"searcher slowly, suggesting, took ", "scheduler ponder, deciding, took "} {
		slowOnce(t, seen.String(), what)
	}
}

// slowOnce checks that a text has what was slow once, with a time that is no less than it took.
func slowOnce(t *testing.T, text, what string) {
	t.Helper()
	_, after, _ := strings.Cut(text, what)
	took, _, _ := strings.Cut(after, ";")
	if d, err := time.ParseDuration(took); err != nil || d < 3*time.Second || strings.Count(text, what) != 1 {
		t.Errorf("%q is said %d times, with %q; want once, with three seconds or more:\n%s", what, strings.Count(text, what), took, text)
	}
}

type dawdling struct {
	sdk.Searcher
	clock *clocktest.Warp
}

func (d *dawdling) Suggest(ctx context.Context, r []sdk.Request) (sdk.Suggestions, error) {
	d.clock.Jump(3 * time.Second)
	return d.Searcher.Suggest(ctx, r)
}

// slowly is a crew that takes its time over each action.
type slowly struct{ clock *clocktest.Warp }

func (s slowly) Do(core.Action) { s.clock.Jump(3 * time.Second) }
func (s slowly) Flush()         {}

// B-126: a step of the loop that takes too long is named with its time, once.
func TestSlowStepsAreNamedOnce(t *testing.T) {
	clock := clocktest.New(1)
	l, seen := lagging(clock)
	l.record, l.crew, l.rules, l.names, l.heard = &narrow{t: t}, slowly{clock}, stoprules.New(&config.Experiment{}), newNames(), func(core.Event) {}
	for _, e := range []core.Event{&core.ExperimentStarted{Spec: core.Spec{Trials: 1}}, &core.HostStarted{}, &core.TrialGiven{}, &core.TrialGiven{}} {
		if err := l.stepAll([]inbox.News{{Event: e}}); err != nil {
			t.Fatal(err)
		}
	}
	slowOnce(t, seen.String(), "the loop's step took ")
}

// lagging is a loop without anything to do, and what it logs.
func lagging(clock clock.Clock) (*Loop, *screenful) {
	seen := &screenful{}
	log := hostlog.New(hclog.New(&hclog.LoggerOptions{Output: seen}))
	h := history.New()
	return &Loop{history: h, machine: h.Machine(), clock: clock, log: log, inbox: inbox.New()}, seen
}

// B-008: warned once, after a minute in which there was always more to do.
func TestLagIsToldOnce(t *testing.T) {
	clock := clocktest.New(1)
	l, seen := lagging(clock)
	told := func() int { return strings.Count(seen.String(), "report less often") }
	l.watchLag(lagEvents)
	clock.Jump(30 * time.Second)
	l.watchLag(lagEvents)
	if told() != 0 {
		t.Errorf("warned before the minute was over:\n%s", seen)
	}
	for range 3 {
		clock.Jump(time.Minute)
		l.watchLag(lagEvents)
	}
	if told() != 1 {
		t.Errorf("warned %d times, want once:\n%s", told(), seen)
	}
}

// B-008: a moment's breath begins the minute anew.
func TestNoLagAfterABreath(t *testing.T) {
	clock := clocktest.New(1)
	l, seen := lagging(clock)
	for range 10 {
		l.watchLag(lagEvents)
		clock.Jump(20 * time.Second)
		l.watchLag(1)
		clock.Jump(20 * time.Second)
	}
	if seen.String() != "" {
		t.Errorf("warned:\n%s", seen)
	}
}
