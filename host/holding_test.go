package host

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/core"
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

// paused counts how often states were held in memory, and saved.
func paused(t *testing.T, dir string) (held, saved int, m *core.Machine) {
	t.Helper()
	m = audit(t, dir, func(_ *core.Machine, e core.Event) {
		switch e.(type) {
		case *core.StateHeld:
			held++
		case *core.CheckpointSaved:
			saved++
		}
	})
	return held, saved, m
}

// B-052: with pauses in memory an experiment comes to the same end, bit by bit, as
// with pauses on disk; no checkpoint is made for a pause, and nothing stays in
// memory.
func TestPausesInMemory(t *testing.T) {
	t.Parallel()
	o, _ := quick(t, promoted, asha.Plugin, digits.Plugin)
	heldNot, saved, want := paused(t, finish(t, o).Dir)
	o, seen := quick(t, promoted+"checkpoint: {pauses: memory}\n", asha.Plugin, digits.Plugin)
	ended := finish(t, o)
	held, savedNot, got := paused(t, ended.Dir)
	d, err := storage.At(ended.Dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := storage.OpenMemory(d)
	if err != nil {
		t.Skipf("this machine has no memory file system: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if heldNot != 0 || saved == 0 || held != saved || savedNot != 0 {
		t.Errorf("%d held and %d saved with pauses on disk; %d and %d with pauses in memory\n%s", heldNot, saved, held, savedNot, seen)
	}
	for no := range core.TrialNo(9) {
		x, y := want.View(no), got.View(no)
		a, _ := want.Summary(no, 1)
		b, _ := got.Summary(no, 1)
		if x.Iteration != y.Iteration || x.Results != y.Results || math.Float64bits(a.Last) != math.Float64bits(b.Last) {
			t.Errorf("trial %d: %d results to %d, %v; with pauses on disk %d to %d, %v", no, y.Results, y.Iteration, b.Last, x.Results, x.Iteration, a.Last)
		}
	}
	if err := Replay(t.Context(), ended.Dir, o.Plugins); err != nil {
		t.Error(err)
	}
}

// What a host has held is gone with it, and found by nobody.
func TestNothingStaysInMemory(t *testing.T) {
	d, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m, err := storage.OpenMemory(d)
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
	again, err := storage.OpenMemory(d) // the host was killed
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Restore(3, 7, to); err == nil {
		t.Error("what an earlier host held is still there")
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
