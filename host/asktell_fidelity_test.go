package host

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/asktell"
)

const fidelity = `{"version":1,"name":"b","seed":3,"objective":{"metric":"value","mode":"min"},` +
	`"space":{"x":{"uniform":[0,1]}},"searcher":"random","scheduler":{"plugin":"asha","max":9%s},"trials":%d,` +
	`"concurrency":4}`

// learning trains trials; the one with the smallest x becomes best, on
// workers that take turns.
type learning struct {
	c       *caller
	at      map[string]int // iterations trained
	x       map[string]float64
	workers []string // what each trains; "": nothing
	resumed int
	ends    map[string]string // decisions that were the last
}

func newCurves(c *caller, workers int) *learning {
	return &learning{c: c, at: map[string]int{}, x: map[string]float64{}, workers: make([]string, workers),
		ends: map[string]string{}}
}

// turn gives each worker one thing to do, and says whether all is over.
func (k *learning) turn() (over bool) {
	for i, trial := range k.workers {
		if trial == "" {
			r := k.c.ask(`{"ask":true}`)
			k.take(r)
			k.workers[i] = r.Trial
			over = over || r.Finished
			continue
		}
		if !k.train(trial) {
			k.workers[i] = ""
		}
	}
	return over
}

func (k *learning) take(r reply) {
	if r.Trial == "" {
		return
	}
	if r.ResumeFrom != k.at[r.Trial] || r.Number == nil {
		k.c.t.Fatalf("%+v, but it was trained to %d", r, k.at[r.Trial])
	}
	if r.ResumeFrom > 0 {
		k.resumed++
	}
	k.x[r.Trial] = r.Params["x"].(float64)
	delete(k.ends, r.Trial)
}

func (k *learning) train(trial string) bool {
	k.at[trial]++
	n := k.at[trial]
	d := k.c.ask(`{"report":%q,"metrics":{"value":%v},"iteration":%d}`, trial, k.x[trial]+1/float64(n), n)
	if d.Decision == "" {
		k.c.t.Fatalf("%s at %d: %+v", trial, n, d)
	}
	if d.Decision != "continue" {
		k.ends[trial] = d.Decision
	}
	return d.Decision == "continue"
}

func (k *learning) run() {
	for !k.turn() {
	}
}

// longest is the trial that was trained most, and how often trials ended so.
func (k *learning) longest() (best string, count map[string]int) {
	count = map[string]int{}
	for trial, n := range k.at {
		count[k.ends[trial]]++
		if n > k.at[best] || n == k.at[best] && k.x[trial] < k.x[best] {
			best = trial
		}
	}
	return best, count
}

// smallest is the trial of the best parameters.
func (k *learning) smallest() (best string) {
	least := math.Inf(1)
	for trial, x := range k.x {
		if x < least {
			best, least = trial, x
		}
	}
	return best
}

func TestAskTellStopsTheWorse(t *testing.T) {
	c := call(t, inMemory())
	c.send(fmt.Sprintf(fidelity, "", 30))
	k := newCurves(c, 4)
	k.run()
	best, count := k.longest()
	if best != k.smallest() || k.at[best] != 9 || count["stop"] != 30 || k.resumed > 0 {
		t.Fatalf("trained to %v, ended %v, %d continued", k.at, count, k.resumed)
	}
	if r := c.ask(`{"best":true}`); r.Trial != best {
		t.Fatalf("best is %+v, want %s", r, best)
	}
	c.endWell()
}

func TestAskTellPausesAndGoesOn(t *testing.T) {
	c := call(t, inMemory())
	c.send(fmt.Sprintf(fidelity, `,"type":"promotion"`, 30))
	k := newCurves(c, 4)
	k.run()
	best, _ := k.longest()
	if best != k.smallest() || k.at[best] != 9 || k.resumed == 0 {
		t.Fatalf("trained to %v, %d continued", k.at, k.resumed)
	}
	for trial, n := range k.at {
		if n != 1 && n != 3 && n != 9 {
			t.Errorf("%s was left at iteration %d, between rungs", trial, n)
		}
	}
	for trial, how := range k.ends {
		if how != "pause" {
			continue
		}
		if r := c.ask(`{"tell":%q}`, trial); !strings.Contains(r.Error, "has ended") {
			t.Errorf("a trial that was left paused: %+v", r)
		}
	}
	c.endWell()
}

// B-102: the answers depend on the file, its seed and the requests alone; not on
// where the plugins run, nor on where the experiment is kept.
func TestAskTellSaysTheSame(t *testing.T) {
	talk := func(inProcess bool, storage string) string {
		o := inMemory()
		o.Mode.InProcess, o.Storage = inProcess, storage
		c := call(t, o)
		c.send(fmt.Sprintf(fidelity, `,"type":"promotion"`, 30))
		newCurves(c, 4).run()
		c.endWell()
		return c.script.String()
	}
	first := talk(true, "none")
	if again := talk(true, t.TempDir()); again != first {
		t.Error("kept in a directory, it goes otherwise")
	}
	if again := talk(false, "none"); again != first {
		t.Error("with plugins in processes, it goes otherwise")
	}
}

// B-080: a session may end at any request, in order or killed. The next one goes
// on with what there is, and every trial comes to its end.
func TestAskTellResumes(t *testing.T) {
	o := kept(t, fmt.Sprintf(fidelity, `,"type":"promotion"`, 30))
	k := newCurves(call(t, o), 4)
	sessions := 1
	for turns := 1; !k.turn(); turns++ {
		if turns%7 != 0 {
			continue
		}
		if sessions++; sessions%2 == 0 {
			k.c.endWell()
		} else {
			o.Storage = asKilled(t, o)
		}
		k.c = call(t, o)
		// What was in hand is handed out again before anything new.
		left := map[string]bool{}
		for i, trial := range k.workers {
			if left[trial] = true; trial == "" {
				delete(left, trial)
			}
			k.workers[i] = ""
		}
		for i := range len(left) {
			r := k.c.trial()
			if k.take(r); !left[r.Trial] {
				t.Fatalf("session %d begins with %+v, but %v were in hand", sessions, r, left)
			}
			k.workers[i] = r.Trial
		}
	}
	best, _ := k.longest()
	if best != k.smallest() || k.at[best] != 9 || len(k.at) != 30 || sessions < 4 {
		t.Fatalf("%d trials in %d sessions, trained to %v", len(k.at), sessions, k.at)
	}
	k.c.endWell()
	e := open(t, o)
	if n := e.Now().Machine.Count(core.Terminated); n != 30 || e.State() != "finished" {
		t.Fatalf("%s with %d trials that ended well", e.State(), n)
	}
}

// asKilled copies what a host would leave behind if it were killed now.
func asKilled(t *testing.T, o Options) (storage string) {
	storage = t.TempDir()
	if err := os.CopyFS(storage, os.DirFS(o.Storage)); err != nil {
		t.Fatal(err)
	}
	return storage
}

// A later host gives no order of the scheduler again: a trial that was promoted,
// and is paused at the next rung, stays so.
func TestAskTellOrdersOnce(t *testing.T) {
	o := kept(t, fmt.Sprintf(fidelity, `,"type":"promotion"`, 30))
	k := newCurves(call(t, o), 1)
	for k.resumed == 0 || k.workers[0] != "" {
		k.turn()
	}
	best, count := k.longest()
	if k.at[best] != 3 || count["pause"] != len(k.at) {
		t.Fatalf("trained to %v, ended %v", k.at, k.ends)
	}
	k.c.endWell()
	k.c = call(t, o)
	if r := k.c.trial(); r.Number == nil {
		t.Fatalf("%+v continues", r)
	}
	k.c.endWell()
}

// TestAskTellWhoTrains: run and asktell do not take up each other's experiments.
func TestAskTellWhoTrains(t *testing.T) {
	o := kept(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 1, any_params: true}}
space: {quality: {uniform: [0, 1]}}
trials: 2
`)
	c := call(t, o)
	if r := c.trial(); r.Params["quality"] == nil {
		t.Fatalf("%+v", r)
	}
	c.endWell()
	if _, err := run(t.Context(), o); err == nil || !strings.Contains(err.Error(),
		"resume it with `tunehost asktell`, or with `tunehost serve`") {
		t.Errorf("run: %v", err)
	}
	o.Name = "run"
	if _, err := run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := call(t, o).end(); err == nil || !strings.Contains(err.Error(), "resume it with `tunehost run`") {
		t.Errorf("asktell: %v", err)
	}
}

// B-026: the caller's clock, once it has told it, is the only one.
func TestAskTellTime(t *testing.T) {
	o := kept(t, fmt.Sprintf(single, `,"trials":10,"stop":{"time":"100s"},"budget":{"time":"1h"}`))
	c := call(t, o)
	first := c.ask(`{"ask":true,"time":1000}`)
	if r := c.ask(`{"report":%q,"metrics":{"value":1},"time":1099}`, first.Trial); r.Decision != "continue" {
		t.Fatalf("%+v", r)
	}
	second := c.ask(`{"ask":true,"time":50}`) // time does not go back
	c.ask(`{"best":true,"time":1150}`)
	if r := c.ask(`{"report":%q,"metrics":{"value":9}}`, first.Trial); r.Decision != "stop" {
		t.Fatalf("after 150 of 100 seconds: %+v", r)
	}
	if r := c.ask(`{"report":%q,"metrics":{"value":1}}`, second.Trial); r.Decision != "continue" {
		t.Fatalf("after 51 of 100 seconds: %+v", r)
	}
	if r := c.ask(`{"ask":true,"time":3600}`); !r.Wait {
		t.Fatalf("after the budget, with a trial in hand: %+v", r)
	}
	if r := c.ask(`{"tell":%q,"metrics":{"value":0}}`, second.Trial); !r.OK || r.Ignored == "" {
		t.Fatalf("told what had to stop: %+v", r)
	}
	if r := c.ask(`{"ask":true}`); !r.Finished {
		t.Fatalf("after the budget: %+v", r)
	}
	c.endWell()
	e := open(t, o)
	log, err := os.ReadFile(filepath.Join(e.Dir.Path(), "host.log"))
	if err != nil || strings.Count(string(log), `"time": 50 is before 1099, where the time was already`) != 1 {
		t.Errorf("the log: %s %v", log, err)
	}
	m := e.Now().Machine
	if _, why := m.Outcome(); m.Now() != 3600e9 || m.View(0).Started != 1000e9 || m.View(1).Started != 1099e9 ||
		!why.Is(core.CauseTimeBudget) {
		t.Fatalf("it is %d, trials began at %d and %d: %s", m.Now(), m.View(0).Started, m.View(1).Started, why)
	}
}

// B-104
func TestAskTellPointsFirst(t *testing.T) {
	c := call(t, inMemory())
	c.send(fmt.Sprintf(single, `,"trials":3,"points":[{"x":0.25,"kind":"b"},{"x":0.75}]`))
	if r := c.trial(); r.Params["x"] != 0.25 || r.Params["kind"] != "b" {
		t.Errorf("first %+v", r)
	}
	if r := c.trial(); r.Params["x"] != 0.75 {
		t.Errorf("second %+v", r)
	}
	if r := c.trial(); *r.Number != 2 {
		t.Errorf("third %+v", r)
	}
	c.endWell()
}

// BenchmarkAskTell is an ask and a tell with random search, in this process and
// in one of its own.
func BenchmarkAskTell(b *testing.B) {
	for _, inProcess := range []bool{true, false} {
		b.Run(fmt.Sprintf("inProcess=%t", inProcess), func(b *testing.B) {
			o := inMemory()
			o.Mode.InProcess = inProcess
			var in strings.Builder
			fmt.Fprintf(&in, single+"\n", `,"trials":-1`)
			for i := range b.N {
				fmt.Fprintf(&in, "{\"ask\":true}\n{\"tell\":%d,\"metrics\":{\"value\":%d}}\n", i, i)
			}
			b.ReportAllocs()
			b.ResetTimer()
			var out strings.Builder
			if err := asktell.Run(b.Context(), strings.NewReader(in.String()), &out, o); err != nil {
				b.Fatal(err)
			}
			if n := strings.Count(out.String(), `{"ok":true}`); n != b.N {
				b.Fatalf("%d of %d are told", n, b.N)
			}
		})
	}
}
