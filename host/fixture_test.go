package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/config/seeds"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/schedulers/fifo"
	"github.com/tunehost/tunehost/plugins/searchers/auto"
	"github.com/tunehost/tunehost/plugins/searchers/grid"
	"github.com/tunehost/tunehost/plugins/searchers/random"
	"github.com/tunehost/tunehost/plugins/trainables/chaos"
)

// quick makes an experiment whose plugins run in the test's process; more are
// plugins beside the bundled ones.
func quick(t *testing.T, text string, more ...any) (Options, *testplace.Screen) {
	t.Helper()
	o, seen := quiet(t, text)
	o.Mode.InProcess = true
	o.Plugins = bundled.New(append([]any{auto.Plugin, random.Plugin, grid.Plugin, fifo.Plugin, chaos.Plugin},
		more...)...)
	pluginsOf.Store(o.Storage, o.Plugins)
	return o, seen
}

// quiet makes an experiment with real processes, and collects what is shown.
func quiet(t *testing.T, text string) (Options, *testplace.Screen) {
	t.Helper()
	o := write(t, text)
	seen := &testplace.Screen{}
	o.Stdout, o.Stderr = seen, seen
	return o, seen
}

// finish runs an experiment that must end by itself.
func finish(t *testing.T, o Options) Ended {
	t.Helper()
	ended, err := run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return ended
}

// begin runs an experiment in the background, and sends how it ended.
func begin(t *testing.T, ctx context.Context, o Options) <-chan Ended {
	t.Helper()
	done := make(chan Ended, 1)
	go func() {
		ended, err := run(ctx, o)
		if err != nil {
			t.Error(err)
		}
		done <- ended
	}()
	return done
}

// refused runs an experiment that must not begin, and returns its error's text.
func refused(t *testing.T, o Options) string {
	t.Helper()
	ended, err := run(context.Background(), o)
	if err == nil {
		t.Fatalf("it ran: %+v", ended)
	}
	return err.Error()
}

// contains checks that a text has all the parts.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is not in:\n%s", p, text)
		}
	}
}

// audit runs the record through a machine and looks at it after each event.
func audit(t *testing.T, dir string, look func(m *core.Machine, e core.Event)) *core.Machine {
	t.Helper()
	d, err := storage.At(dir)
	if err != nil {
		t.Fatal(err)
	}
	h, err := history.Open(d.Journal())
	if err != nil {
		t.Fatal(err)
	}
	err = h.Each(func(s *history.Step) error {
		if look != nil {
			look(s.Machine, s.Event)
		}
		return nil
	})
	if err = errors.Join(err, h.Close()); err != nil {
		t.Fatal(err)
	}
	return h.Machine()
}

// mostRunning is how many trials ever ran at a time.
func mostRunning(t *testing.T, dir string) (most int) {
	t.Helper()
	audit(t, dir, func(m *core.Machine, _ core.Event) { most = max(most, m.Running()) })
	return most
}

// params are those of all trials, in order.
func params(m *core.Machine) (list []string) {
	for no := range core.TrialNo(m.Trials()) {
		list = append(list, string(m.Params(no)))
	}
	return list
}

// trialFile reads a file of a trial's directory.
func trialFile(t *testing.T, dir string, prefix, name string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "trials", prefix+"*", name))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s of %s: %v, %v", name, prefix, found, err)
	}
	b, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// mix makes a number of another that looks like any.
func mix(x uint64) uint64 { return seeds.Again(x, 0) }
