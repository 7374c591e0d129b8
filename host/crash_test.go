package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
)

// broken is a clock that panics when the loop reads it for the time that after says.
type broken struct {
	clock.System
	calls, after atomic.Int64
}

func (b *broken) Since(t time.Time) time.Duration {
	n := b.after.Load()
	if n > 0 && strings.Contains(string(debug.Stack()), "(*Engine).Run(") && b.calls.Add(1) == n {
		panic("the clock\nis broken")
	}
	return b.System.Since(t)
}

// A host that fails itself says so in one line, leaves a report, stops what runs,
// and has lost nothing: the next one continues to the end.
func TestFailedHost(t *testing.T) {
	o := write(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 3, sleep: 0.02, any_params: true}}
space: {quality: {uniform: [0, 1]}}
trials: 4
`)
	clock := &broken{}
	clock.after.Store(6)
	o.Clock = clock
	_, err := run(context.Background(), o)
	var failed *FailedError
	if !errors.As(err, &failed) {
		t.Fatalf("the host ended with %v", err)
	}
	dir := filepath.Join(o.Storage, "test")
	want := "tunehost itself has failed (the clock; is broken): please send " + failed.Report +
		" to its authors; recorded events are kept, and `tunehost resume " + dir + "` continues"
	if err.Error() != want {
		t.Errorf("it says %v, want %v", err, want)
	}
	text, err := os.ReadFile(failed.Report)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{Version(), "the clock", "host/crash_test.go", "(*Engine).Run"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("the report does not have %q:\n%s", part, text)
		}
	}
	if info, err := os.Stat(failed.Report); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the report is %v (%v)", info.Mode(), err)
	}
	o.Clock = nil
	ended, err := run(context.Background(), o)
	if err != nil || ended.Outcome != core.Finished || ended.Errored > 0 {
		t.Fatalf("it continued to %+v, %v", ended, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "crash*")); len(left) != 1 {
		t.Errorf("left are %v, want the one report", left)
	}
}
