package host

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/clock/clocktest"
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
	o, seen := quick(t, search("space: {x: {uniform: [0, 1]}}\nsearcher: slowly\nscheduler: ponder\ntrials: 4\n"),
		slowly, ponder)
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
		t.Errorf("%q is said %d times, with %q; want once, with three seconds or more:\n%s", what,
			strings.Count(text, what), took, text)
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
