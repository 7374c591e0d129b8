package exec_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/clock/clocktest"
)

// Leases that an earlier host could not release are released even if the experiment has ended, so
// that the host ends at once.
func TestCloseAwaitsAdopt(t *testing.T) {
	for range 20 {
		e := &engine{leases: map[string]int{"x-7": 1}, script: map[string][]error{"Adopt": {errors.New("busy")}}}
		w := beginAt(t, clocktest.New(1000), e)
		w.ends("adopt []")
		if len(e.leases) != 0 {
			t.Fatal(e.leases)
		}
	}
}

// If the executor never answers, the message also names the leases of earlier hosts.
func TestCloseWithoutAdopt(t *testing.T) {
	e := &engine{script: map[string][]error{"Adopt": slices.Repeat([]error{errors.New("down")}, 1000)}}
	w := beginAt(t, clocktest.New(1000), e)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if kept := w.Close(ctx); !slices.Equal(kept, []string{"x-*"}) {
		t.Error(kept)
	}
}

// An end that takes long says what it waits for.
func TestCloseSaysWhatItWaitsFor(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	const says = `executor "test" has not given these leases back yet: x-1; the end waits for it for 1h0m0s ` +
		`more at most`
	var w *world
	e := &engine{script: map[string][]error{"Release": slices.Repeat([]error{errors.New("down")}, 1000)}}
	e.logged = func(line string) {
		if strings.Contains(line, "the end waits") {
			if end, _ := ctx.Deadline(); !slices.Equal(w.noted.Names, []string{"x-1"}) || !w.noted.Until.Equal(end) {
				t.Errorf("not noted while the end waits: %+v", w.noted)
			}
			cancel()
		}
	}
	w = beginAt(t, clocktest.New(1000), e)
	w.ask(1, "cpu=1")
	w.hears("LeasePending")
	w.release(1)
	w.log.Await(t, "it is tried again until it answers; leases are not given back")
	w.Close(ctx)
	w.warned(says)
	w.warned("it is tried again until it answers; leases are not given back")
}

// Only of leases on which agents ran is it known when they end without a host.
func TestCloseSaysWhatRan(t *testing.T) {
	for _, granted := range []bool{false, true} {
		e := &engine{script: map[string][]error{"Release": slices.Repeat([]error{errors.New("down")}, 1000)}}
		w := begin(t, e)
		w.ask(1, "gpu=1")
		w.hears("LeasePending")
		if granted {
			e.say(grant("x-1"))
			w.hears("LeaseGranted")
		}
		w.release(1)
		w.release(1) // for the second time
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		w.Close(ctx)
		if w.noted.Ran != granted || !w.noted.Until.IsZero() || len(w.noted.Names) != 1 {
			t.Errorf("granted %t: %+v", granted, w.noted)
		}
	}
}

// If the user does not wait for the executor, the host names the leases that may still be held.
func TestCloseGivesUp(t *testing.T) {
	e := &engine{script: map[string][]error{}}
	w := begin(t, e)
	w.ask(1, "cpu=1")
	w.hears("LeasePending")
	e.mu.Lock()
	e.script["Release"] = slices.Repeat([]error{errors.New("down")}, 1000)
	e.mu.Unlock()
	w.release(1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if kept := w.Close(ctx); !slices.Equal(kept, []string{"x-1"}) || !slices.Equal(w.noted.Names, kept) {
		t.Error(kept, w.noted)
	}
}
