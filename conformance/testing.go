package conformance

import (
	"context"
	"errors"
	"testing"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/inproc"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// RunSearcher runs each check of searchers as a subtest.
func RunSearcher(t *testing.T, open Open, o ...Options) { runTests(t, sdk.KindSearcher, open, o) }

// RunScheduler runs each check of schedulers as a subtest.
func RunScheduler(t *testing.T, open Open, o ...Options) { runTests(t, sdk.KindScheduler, open, o) }

// RunTrainable runs each check of trainables as a subtest.
func RunTrainable(t *testing.T, open Open, o ...Options) { runTests(t, sdk.KindTrainable, open, o) }

// RunReporter runs each check of reporters as a subtest.
func RunReporter(t *testing.T, open Open, o ...Options) { runTests(t, sdk.KindReporter, open, o) }

// RunExecutor runs the suite on an executor.
func RunExecutor(t *testing.T, open Open, o ...Options) { runTests(t, sdk.KindExecutor, open, o) }

// RunAll runs each check of a kind as a subtest.
func RunAll(t *testing.T, kind sdk.Kind, open Open, o ...Options) { runTests(t, kind, open, o) }

func runTests(t *testing.T, kind sdk.Kind, open Open, o []Options) {
	t.Helper()
	var options Options
	if len(o) > 0 {
		options = o[0]
	}
	checks, err := Select(Checks(kind), options.Only)
	if err != nil || len(checks) == 0 {
		t.Fatalf("no checks are named %q: %v", options.Only, err)
	}
	known := &declared{}
	for _, c := range checks {
		t.Run(c.Name, func(t *testing.T) { test(t, run(t.Context(), c, kind, open, options, known)) })
	}
}

// test reports the result of a check; one that is not applicable is skipped.
func test(t *testing.T, r Result) {
	switch r.Outcome {
	case NotApplicable:
		t.Skip("not applicable: " + r.Why)
	case Late:
		t.Errorf("%s\nthis could not be checked: %s", r.Rule, r.Why)
	case Failed:
		t.Errorf("%s\nwant %s\nsaw  %s\n(%v)", r.Rule, r.Want, r.Saw, r.Source)
	}
}

// InProcess opens a plugin that is a Go value (an sdk.SearcherPlugin,
// sdk.SchedulerPlugin, sdk.TrainablePlugin or sdk.ReporterPlugin) in this process.
func InProcess(value any) Open {
	return func(context.Context) (plugin.Plugin, error) { return inproc.New(value) }
}

// Process opens a plugin as a process, as the host does.
func Process(config process.Config) Open {
	return func(ctx context.Context) (plugin.Plugin, error) {
		p, err := process.Start(ctx, config)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
}

// Warm starts a plugin and ends it, outside of the deadline of any check. The first start of a WASM
// module compiles it, which can take longer than a check may. The error is that of a plugin which was not ready in
// time: each check would wait for it as long. Other errors are left to the checks.
func Warm(ctx context.Context, open Open) error {
	p, err := open(ctx)
	if err == nil {
		_ = p.Close()
	}
	if errors.Is(err, plugin.ErrLate) {
		return err
	}
	return nil
}
