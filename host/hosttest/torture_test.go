package hosttest_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/host/view"
)

var (
	kills = flag.Int("kills", 20, "how many hosts TestKilledHosts kills")
	seed  = flag.Uint64("torture.seed", 0, "where and when TestKilledHosts kills; 0: drawn")
)

// counting is a program that keeps its own account of what it reports, saves
// each third iteration, and leaves a process behind that has left its group.
const counting = `
#!/bin/sh
setsid sleep 600 &
i=0
[ -n "$TUNEHOST_CHECKPOINT" ] && i=$(cat "$TUNEHOST_CHECKPOINT/state")
echo "begin $$ $i" >> own.log
while [ "$i" -lt 9 ]; do
	i=$((i + 1))
	sleep 0.05
	save=
	if [ $((i % 3)) = 0 ]; then
		dir="$TUNEHOST_CHECKPOINT_DIR/$$-$i"
		mkdir "$dir" && echo "$i" > "$dir/state" && save=", \"checkpoint\": \"$dir\""
	fi
	echo "report $$ $i" >> own.log
	echo "{\"score\": $i, \"quality\": $TUNEHOST_PARAM_QUALITY, \"nonce\": $$, \"iteration\": $i$save}"
done
`

// victim is a kind of experiment whose hosts are killed.
type victim struct {
	yaml    string
	scripts map[string]string
	trials  int
	check   func(*testing.T, *experiment)
}

func victims() []victim {
	const header = "version: 1\nobjective: {metric: score, mode: max}\n"
	const chaos = header + `
trainable: {plugin: chaos, options: {iterations: 9, sleep: 0.03, any_params: true}}
space: {quality: {uniform: [0, 1]}}
checkpoint: {every: 2, keep: 2, score: score}
trials: 12
`
	return []victim{
		{yaml: chaos + "searcher: random\nscheduler: {plugin: asha, max: 9}\nreporters: [jsonl, lines]\n", trials: 12,
			check: reportedAll},
		{yaml: header + `
trainable: {command: ["./count.sh"]}
space: {quality: {uniform: [0, 1]}}
searcher: random
scheduler: {plugin: asha, max: 9}
trials: 9
`, scripts: map[string]string{"count.sh": counting}, trials: 9, check: ownAccounts},
		{yaml: chaos + "searcher: sobol\nscheduler: {plugin: hyperband, max: 9}\n", trials: 12},
		{yaml: `
version: 1
objective: {metric: accuracy, mode: max}
trainable: {plugin: digits}
space: {lr: {loguniform: [0.01, 1]}, units: {int: [8, 16]}, epochs: 8}
checkpoint: {every: 2}
searcher: random
scheduler: {plugin: asha, max: 8}
trials: 9
`, trials: 9},
		{yaml: chaos + "searcher: random\nscheduler: {plugin: pbt, interval: 2}\nconcurrency: 3\n", trials: 12},
		{yaml: chaos + "searcher: random\nscheduler: {plugin: asha, type: promotion, max: 9}\n", trials: 12},
		{yaml: strings.Replace(chaos, "score: score}", "score: score, pauses: memory}", 1) +
			"searcher: random\nscheduler: {plugin: asha, type: promotion, max: 9}\n", trials: 12}, // B-052
		{yaml: chaos + "searcher: {plugin: tpe, startup: 2}\nscheduler: {plugin: asha, max: 9}\nrepeat: 2\npoints: " +
			"[{quality: 0.5}]\n", trials: 24},
	}
}

// B-080, B-084, B-025, B-127: hosts are killed at any moment, also while they start and
// take up, until the experiment is done; nothing is lost, counted twice or left
// running.
func TestKilledHosts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		*kills = min(*kills, 5)
	}
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-torture.seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 0))
	for n, round := 0, 0; n < *kills; round++ {
		v := victims()[round%len(victims())]
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			x := write(t, v.yaml, v.scripts)
			defer keepFailed(t, x)
			n += torture(t, x, rng, min(*kills-n, 10))
			hosttest.CheckFinished(t, x.dir, v.trials)
			hosttest.CheckReplay(t, x.dir, plugged)
			if v.check != nil {
				v.check(t, x)
			}
		})
		if t.Failed() {
			return
		}
	}
}

// reportedAll: the reporter has heard of every event once (B-127).
func reportedAll(t *testing.T, x *experiment) {
	hosttest.CheckReported(t, x.dir, filepath.Join(x.dir, "events.jsonl"))
}

// torture kills hosts until the experiment is done, but at most limit; it says
// how many.
func torture(t *testing.T, x *experiment, rng *rand.Rand, limit int) (killed int) {
	for {
		p := x.start(t)
		var death <-chan time.Time
		if killed < limit {
			// Most while it works, some while it starts.
			death = time.After(time.Duration(rng.ExpFloat64() * float64(300*time.Millisecond)))
		}
		select {
		case <-time.After(patience):
			p.signal(t, syscall.SIGQUIT)
			<-p.exit
			t.Fatalf("after %d kills the experiment does not come to its end:\n%s", killed, p.out.String())
		case got := <-p.exit:
			if got != 0 {
				t.Fatalf("after %d kills the host ended with status %d:\n%s", killed, got, p.out.String())
			}
			return killed
		case <-death:
			p.kill(t)
			killed++
		}
	}
}

// keepFailed saves what a failed test has left.
func keepFailed(t *testing.T, x *experiment) {
	if !t.Failed() {
		return
	}
	to := filepath.Join(os.TempDir(), "tunehost-torture")
	if err := os.RemoveAll(to); err == nil {
		err = os.CopyFS(to, os.DirFS(filepath.Dir(x.Storage)))
		t.Logf("kept in %s (%v)", to, err)
	}
}

// ownAccounts: whatever is recorded was reported by a program, which continued
// from where a checkpoint was.
func ownAccounts(t *testing.T, x *experiment) {
	e, err := view.Open(x.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for no := range core.TrialNo(e.Now().Machine.Trials()) {
		text, err := os.ReadFile(filepath.Join(e.Now().TrialDir(no), "own.log"))
		if err != nil {
			t.Fatal(err)
		}
		reported := map[string]bool{}
		last := ""
		for line := range strings.Lines(string(text)) {
			reported[strings.TrimSpace(line)] = true
			var pid, i int
			if n, _ := fmt.Sscanf(line, "begin %d %d", &pid, &i); n == 2 && i%3 != 0 {
				t.Errorf("trial %d continued from %d, after %q", no, i, last)
			}
			last = line
		}
		results, err := e.Results(no)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			var nonce float64
			for _, m := range r.Metrics {
				if m.Name == "nonce" {
					nonce = m.Value
				}
			}
			if said := fmt.Sprintf("report %d %d", int(nonce), r.Iteration); !reported[said] {
				t.Errorf("trial %d: the record has %q, which no program said:\n%s", no, said, text)
			}
		}
	}
}
