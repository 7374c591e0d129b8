package smallheap

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		live, rate uint64 // in MiB
		want       int
	}{{0, 1000, 800}, {1, 1000, 800}, {8, 1000, 400}, {32, 1000, 100}, {1 << 10, 1000, 100}, {8, 0, 25}, {8, 20, 50},
		{8, 100, 250}, {100, 20, 50}, {1, 0, 25}, {16, 0, 12}, {20, 0, 10}, {100, 3, 10}, {100, 6, 15}} {
		if got := percent(c.live<<20, c.rate<<20); got != c.want {
			t.Errorf("%d MiB in use, %d allocated a second: %d, want %d", c.live, c.rate, got, c.want)
		}
	}
}

// A heap that may have more room grows more between two collections.
func TestRoomy(t *testing.T) {
	t.Cleanup(func() {
		wanted.Store(0)
		debug.SetGCPercent(usual)
	})
	a := &adapter{seen: measured(), percent: usual}
	a.seen.at = time.Now().Add(-time.Hour)
	if a.adapt(); a.percent != least {
		t.Errorf("%d, want %d", a.percent, least)
	}
	Roomy(1 << 30)
	if a.adapt(); a.percent != most {
		t.Errorf("with more room: %d, want %d", a.percent, most)
	}
}

// A process with a limit is not collected more often because it allocates little.
func TestLimited(t *testing.T) {
	t.Cleanup(func() {
		limit.Store(0)
		debug.SetMemoryLimit(math.MaxInt64)
		debug.SetGCPercent(usual)
	})
	idle := func() int {
		a := &adapter{seen: measured(), percent: usual}
		a.seen.at = time.Now().Add(-time.Hour)
		a.adapt()
		return a.percent
	}
	if got := idle(); got != least {
		t.Errorf("without a limit: %d, want %d", got, least)
	}
	Limit(1 << 30)
	if got := idle(); got <= usual {
		t.Errorf("with a limit: %d", got)
	}
	for live, want := range map[uint64]int{1: 800, 16: 200, 64: 50, 320: 10} {
		if got := roomy(live<<20, room); got != want {
			t.Errorf("%d MiB in use: %d, want %d", live, got, want)
		}
	}
}

// A process that needs more than its limit is not collected all the time.
func TestBeyondLimit(t *testing.T) {
	t.Cleanup(func() {
		limit.Store(0)
		debug.SetMemoryLimit(math.MaxInt64)
		debug.SetGCPercent(usual)
	})
	sink = make([]byte, 16<<20)
	runtime.GC()
	Limit(8 << 20)
	a := &adapter{seen: measured(), percent: usual}
	a.adapt()
	if got, live := debug.SetMemoryLimit(-1), int64(measured().live); got < live+live/5 {
		t.Errorf("with %d bytes in use the limit is %d", live, got)
	}
	sink = nil
	runtime.GC()
	if a.adapt(); debug.SetMemoryLimit(-1) != 8<<20 {
		t.Errorf("a limit of 8 MiB stays %d", debug.SetMemoryLimit(-1))
	}
}

func TestRate(t *testing.T) {
	before := measure{time.Unix(100, 0), 0, 5000}
	if got := (measure{time.Unix(110, 0), 0, 25000}).rate(before); got != 2000 {
		t.Errorf("20 kB in 10 s: %d, want 2000", got)
	}
	if got := before.rate(before); got != 0 {
		t.Errorf("nothing in no time: %d", got)
	}
}

var sink []byte

// The setting follows what happens: a process that allocates much has room, and one that does nothing has little.
func TestAdapt(t *testing.T) {
	t.Setenv(gogc, first)
	t.Cleanup(func() { debug.SetGCPercent(usual) })
	adapt()
	if v := os.Getenv(gogc); v != "" {
		t.Errorf("programs inherit %s=%s", gogc, v)
	}
	a := &adapter{seen: measured(), percent: usual}
	a.seen.at = time.Now().Add(time.Hour) // what was allocated came in no time
	a.seen.allocated = 0
	sink = make([]byte, 1<<20)
	if a.adapt(); a.percent <= usual {
		t.Error("a busy process has no more room")
	}
	a.seen.at = time.Now().Add(-time.Hour)
	if a.adapt(); a.percent != least {
		t.Errorf("an idle process has the setting %d", a.percent)
	}
}

// What is adapted is adapted again after the next collection.
func TestAfterEach(t *testing.T) {
	t.Cleanup(func() { debug.SetGCPercent(usual) })
	a := &adapter{percent: most}
	a.afterNext()
	for range 2 {
		was := a.at()
		for a.at().Equal(was) {
			runtime.GC()
		}
	}
}

func (a *adapter) at() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen.at
}
