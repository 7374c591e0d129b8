package torture

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/host/view"
)

var (
	long = flag.Duration("torture.time", 0, "how long TestTorture continues; 0: one experiment, and few faults")
	seed = flag.Uint64("torture.seed", 0, "what TestTorture does, as far as that can be repeated: the seed of its "+
		"first experiment; 0: drawn")
	jobs = flag.Int("torture.jobs", 2, "how many experiments TestTorture has at a time")
	each = flag.Int("torture.faults", 40, "how many faults an experiment suffers in TestTorture")
)

// counters count injected faults.
var counters = struct {
	sync.Mutex
	of map[string]int
	// tried and suffered count how often each fault was drawn, and how often it happened.
	tried, suffered map[string]int
}{of: map[string]int{}, tried: map[string]int{}, suffered: map[string]int{}}

func count(what string) {
	counters.Lock()
	counters.of[what]++
	counters.Unlock()
}

// inflict injects a fault into a host, and notes whether it was possible.
func (h *host) inflict(t testing.TB, f fault, rng *rand.Rand) {
	before := h.harmed
	h.harmed = false
	f.do(t, h, rng)
	counters.Lock()
	counters.tried[f.name]++
	if h.harmed {
		counters.suffered[f.name]++
	}
	if h.spared != "" {
		counters.suffered[f.name]++ // none can here
	}
	counters.Unlock()
	h.harmed = h.harmed || before
}

// checkSuffered checks that each drawn fault also happens: a fault that never happens
// tests nothing.
func checkSuffered(t *testing.T) {
	counters.Lock()
	defer counters.Unlock()
	for name, n := range counters.tried {
		if n >= 20 && counters.suffered[name] == 0 {
			t.Errorf("%q was tried %d times, and nothing has ever suffered it", name, n)
		}
	}
}

func counted() string {
	counters.Lock()
	defer counters.Unlock()
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(counters.of)) {
		fmt.Fprintf(&b, "%7d  %s\n", counters.of[what], what)
	}
	return b.String()
}

// Whatever fault happens at whatever moment, each experiment comes to
// its end, and its record agrees with the logs of its trainables.
// B-024, B-025, B-080, B-084, B-085, B-086, B-087, B-092
func TestTorture(t *testing.T) {
	if *long == 0 {
		torture(t, 1, 8)
		return
	}
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano()) % 1_000_000_000
	}
	program(t, "tunehost")
	end := time.Now().Add(*long)
	go func() {
		for tick := time.Tick(time.Minute); time.Now().Before(end); <-tick {
			fmt.Printf("%s\n%s", time.Now().Format(time.TimeOnly), counted())
		}
	}()
	next := make(chan uint64)
	go func() {
		defer close(next)
		for s := first; time.Now().Before(end) && failures() < 20; s++ {
			next <- s
		}
	}()
	t.Run("all", func(t *testing.T) {
		for range *jobs {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for s := range next {
					t.Run(fmt.Sprint("seed ", s), func(t *testing.T) { torture(t, s, *each) })
				}
			})
		}
	})
	checkSuffered(t)
	t.Logf("\n%s", counted())
}

// failures counts the failed experiments.
func failures() int {
	counters.Lock()
	defer counters.Unlock()
	return counters.of["experiments failed"]
}

// torture runs one experiment with faults until its end.
func torture(t *testing.T, seed uint64, faults int) {
	rng := rand.New(rand.NewPCG(seed, 0))
	k := kinds[seed%uint64(len(kinds))]
	x := prepare(t, k, privileged() && mountable() && rng.IntN(3) == 0)
	began := time.Now()
	planned := faults
	defer func() {
		count("experiments")
		if t.Failed() {
			count("experiments failed")
			t.Logf("to do the like again: go test ./host/hosttest/torture -run TestTorture -torture.seed %d "+
				"-torture.faults %d -torture.time 1s", seed, planned)
		}
		t.Logf("%s, %d hosts, %v", k.name, x.hosts, time.Since(began).Round(time.Second))
	}()
	for faults > 0 && !t.Failed() && !x.suffer(t, rng, &faults) {
	}
	if !t.Failed() {
		x.finish(t)
		x.audit(t)
	}
}

// suffer runs one host and injects the remaining faults until it
// ends; it reports whether the experiment is done.
func (x *experiment) suffer(t testing.TB, rng *rand.Rand, faults *int) (done bool) {
	x.left = false
	before := x.written()
	h := x.start(t)
	if rng.IntN(2) == 0 { // otherwise, on a slow machine, all faults would come before the start
		h.await(t, patience, func() bool { return x.written() > before })
	}
	for *faults > 0 && !h.within(time.Duration(rng.ExpFloat64()*float64(250*time.Millisecond))) {
		f := draw(x, rng)
		h.inflict(t, f, rng)
		*faults--
	}
	h.ends(t)
	h.judge(t)
	if rng.IntN(8) == 0 {
		x.alone(t)
	}
	return h.status == 0
}

// alone checks that no process of an ended host is left, before another host
// searches for them (B-025).
func (x *experiment) alone(t testing.TB) {
	t.Helper()
	if !x.left {
		hosttest.CheckNoOrphans(t, x.root)
	}
}

// forPermission says whether trials have failed, which may happen because of a
// permission that was removed, and for no other reason.
func (x *experiment) forPermission(t testing.TB) (failed bool) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(x.dir, "experiment.yaml")); errors.Is(err, fs.ErrNotExist) {
		return false // no host has run long enough to start it
	}
	e, err := view.Open(x.dir)
	must(t, err)
	defer e.Close()
	m := e.Now().Machine
	for no := range core.TrialNo(m.Trials()) {
		if v := m.View(no); v.State == core.Errored {
			failed = true
			if !strings.Contains(strings.ToLower(v.Reason()), "permission denied") {
				t.Errorf("trial %d has failed: %s", no, v.Reason())
			}
		}
	}
	return failed
}

// finish lets the experiment finish without faults.
func (x *experiment) finish(t testing.TB) {
	var more []string
	if x.tampered && x.forPermission(t) {
		more = []string{"--resume", "errored_only"}
	}
	for range 2 { // the second run has nothing to do
		h := x.start(t, more...)
		h.ends(t)
		if more = nil; h.status != 0 {
			t.Errorf("undisturbed, a host ended with status %d:\n%s", h.status, h.said())
		}
	}
}
