package host

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/replay"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/plugins/schedulers/asha"
	"github.com/tunehost/tunehost/plugins/trainables/digits"
)

const promoted = `
version: 1
seed: 3
objective: {metric: accuracy, mode: max}
trainable: {plugin: digits}
space: {epochs: 9, lr: {loguniform: [0.001, 1]}}
scheduler: {plugin: asha, type: promotion, max: 9}
trials: 9
concurrency: 1
`

// pauses are what a record says of them: how often states were held in memory, and
// saved, and what each trial reported at each iteration.
type pauses struct {
	held, saved int
	values      map[[2]uint64]uint64 // bits of the first metric
}

func pausesIn(t *testing.T, dir string) pauses {
	t.Helper()
	p := pauses{values: map[[2]uint64]uint64{}}
	audit(t, dir, func(m *core.Machine, e core.Event) {
		switch e := e.(type) {
		case *core.StateHeld:
			p.held++
		case *core.CheckpointSaved:
			p.saved++
		case *core.ResultReported:
			p.values[[2]uint64{uint64(e.Trial), m.View(e.Trial).Iteration}] = math.Float64bits(e.Metrics[0].Value)
		}
	})
	return p
}

// That a program makes its checkpoints by itself, so that none is held in memory, is said once.
func TestPausesInMemoryOfAProgram(t *testing.T) {
	t.Parallel()
	o, seen := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {command: [echo, '{"score": 1}']}
space: {x: 1}
checkpoint: {pauses: memory}
`)
	finish(t, o)
	if n := strings.Count(seen.String(), "checkpoint.pauses"); n != 1 {
		t.Errorf("%d warnings, want 1: %s", n, seen)
	}
}

// B-052: with pauses in memory trials continue, bit by bit, as with pauses on disk; no
// checkpoint is made for a pause, and nothing stays in memory.
func TestPausesInMemory(t *testing.T) {
	t.Parallel()
	o, _ := quick(t, promoted, asha.Plugin, digits.Plugin)
	want := pausesIn(t, finish(t, o).Dir)
	o, seen := quick(t, promoted+"checkpoint: {pauses: memory}\n", asha.Plugin, digits.Plugin)
	ended := finish(t, o)
	if ended.Errored > 0 {
		t.Errorf("%d trials failed\n%s", ended.Errored, seen)
	}
	got := pausesIn(t, ended.Dir)
	if strings.Contains(seen.String(), "pauses are saved on disk") {
		t.Skip("this machine has no memory file system")
	}
	if want.held != 0 || want.saved == 0 || got.held == 0 || got.saved != 0 {
		t.Errorf("%d held and %d saved with pauses on disk; %d and %d with pauses in memory\n%s", want.held, want.saved,
			got.held, got.saved, seen)
	}
	later := 0 // after a pause: which trials continue depends on the order of decisions
	for at, x := range got.values {
		if y, ok := want.values[at]; ok && x != y {
			t.Errorf("trial %d reports %v at %d, with pauses on disk %v", at[0], math.Float64frombits(x), at[1],
				math.Float64frombits(y))
		} else if ok && at[1] > 1 {
			later++
		}
	}
	if later == 0 {
		t.Error("no trial has gone on in both")
	}
	if err := replay.Check(t.Context(), ended.Dir, o.Plugins); err != nil {
		t.Error(err)
	}
}

// What a host has held is gone with it, and found by nobody.
func TestNothingStaysInMemory(t *testing.T) {
	m, err := storage.OpenMemory()
	if err != nil {
		t.Skipf("this machine has no memory file system: %v", err)
	}
	dir, ok := m.Stage(3, 7)
	if !ok {
		t.Skip("there is little memory left")
	}
	if err := os.WriteFile(filepath.Join(dir, "state"), []byte("held"), 0o600); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "copy")
	for range 2 { // it may be gone on from twice
		if err := m.Restore(3, 7, to); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(to, "state")); err != nil || string(b) != "held" {
			t.Errorf("%q, %v", b, err)
		}
	}
	again, err := storage.OpenMemory() // another experiment's
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Restore(3, 7, to); err == nil {
		t.Error("what one experiment holds is found by another")
	}
	if err := errors.Join(again.Close(), m.Close()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", dir, err)
	}
}
