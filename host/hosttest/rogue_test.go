package hosttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/plugins/schedulers/asha"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/searchers/random"
)

// rogue misbehaves in the second call of each of its first lives, and behaves
// after that. Lives are counted in a file.
type rogue struct {
	Do    string `json:"do"`
	Times int    `json:"times"` // lives that end badly
	Mark  string `json:"mark"`  // the file
	calls int
}

var rogueOptions = []byte(`{"type": "object", "properties": {"do": {"type": "string"}, "times": {"type": "integer"}, ` +
	`"mark": {"type": "string"}}}`)

// rogueSearcher is the random searcher but for its misdeeds.
var rogueSearcher = sdk.SearcherPlugin{
	Info: sdk.Info{Name: "rogue", Version: "1.0.0", Options: rogueOptions},
	Open: func(p sdk.Problem, options []byte) (sdk.Searcher, sdk.Traits, error) {
		r := &rogue{}
		if err := json.Unmarshal(options, r); err != nil {
			return nil, sdk.Traits{}, err
		}
		inner, _, err := random.Plugin.Open(p, []byte("{}"))
		return &roguish{inner, r}, sdk.Traits{}, err
	},
}

type roguish struct {
	sdk.Searcher
	*rogue
}

func (r *roguish) Suggest(ctx context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	if err := r.misbehave(); err != nil {
		return sdk.Suggestions{}, err
	}
	return r.Searcher.Suggest(ctx, requests)
}

// rogueScheduler is asha but for its misdeeds.
var rogueScheduler = sdk.SchedulerPlugin{
	Info: sdk.Info{Name: "rogue", Version: "1.0.0", Options: rogueOptions},
	Open: func(p sdk.Problem, options []byte) (sdk.Scheduler, sdk.Traits, error) {
		r := &rogue{}
		if err := json.Unmarshal(options, r); err != nil {
			return nil, sdk.Traits{}, err
		}
		inner, traits, err := asha.Plugin.Open(p, []byte(`{"max": 9}`))
		return &rogueing{inner, r}, traits, err
	},
}

type rogueing struct {
	sdk.Scheduler
	*rogue
}

func (r *rogueing) Decide(ctx context.Context, events []sdk.Event) (sdk.Decisions, error) {
	if err := r.misbehave(); err != nil {
		return sdk.Decisions{}, err
	}
	return r.Scheduler.Decide(ctx, events)
}

func (r *rogue) misbehave() error {
	r.calls++
	lives, _ := os.ReadFile(r.Mark)
	if r.calls != 2 || len(lives) >= r.Times {
		return nil
	}
	if err := os.WriteFile(r.Mark, append(lives, 'x'), 0o600); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "last words of", r.Do)
	switch r.Do {
	case "exit":
		os.Exit(3)
	case "hang":
		select {}
	case "error":
		return errors.New("the matrix is singular")
	case "panic":
		panic("no luck")
	case "panic elsewhere":
		go panic("no luck")
		select {}
	case "flood":
		flood()
	case "memory":
		grow()
	case "children":
		// One in its group, one that has left it, and one that nothing but its
		// environment tells of.
		for _, script := range []string{"sleep 600 &", "setsid sleep 600 &",
			"(setsid sh -c 'cd /; sleep 600 & exit' &)"} {
			_ = exec.Command("sh", "-c", script).Run()
		}
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func flood() {
	line := []byte(strings.Repeat("\x1b[31mz", 20) + "\n")
	for range 200_000 {
		_, _ = os.Stderr.Write(line)
		_, _ = os.Stdout.Write(line)
	}
	fmt.Fprintln(os.Stderr, "last words of flood")
}

// grow takes half a gigabyte that is really there, as a leak does until the
// kernel ends it.
func grow() {
	var kept [][]byte
	for range 32 {
		b := make([]byte, 16<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		kept = append(kept, b)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	fmt.Fprintln(os.Stderr, len(kept))
}

const rogues = `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 9, any_params: true}}
space: {quality: {uniform: [0, 1]}}
checkpoint: {every: 3}
trials: 12
`

var misdeeds = []string{"exit", "kill", "hang", "error", "panic", "panic elsewhere", "flood", "memory", "children"}

// withRogue is an experiment whose searcher or scheduler misbehaves.
func withRogue(t *testing.T, kind, do string, times int) *experiment {
	x := write(t, rogues, nil)
	x.Sets = []string{fmt.Sprintf("%s={plugin: rogue, do: %s, times: %d, mark: %s}", kind, do, times,
		filepath.Join(filepath.Dir(x.File), "lives"))}
	x.CallTimeout = 2 * time.Minute // a busy machine is no hang
	if do == "hang" {
		x.CallTimeout = 8 * time.Second
	}
	return x
}

// B-077, B-025: a searcher or scheduler that crashes, hangs, fails, floods or
// leaks, and leaves children behind, is restarted with its state: the
// experiment comes to its end with the very suggestions and decisions of one
// that does not, which the replay checks, and nothing is left running.
func TestRoguesAreRestarted(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"searcher", "scheduler"} {
		for _, do := range misdeeds {
			t.Run(kind+" "+do, func(t *testing.T) {
				t.Parallel()
				times := 2
				if do == "hang" { // which takes its time
					times = 1
				}
				x := withRogue(t, kind, do, times)
				said := x.run(t, 0)
				if n := strings.Count(said, kind+` "rogue" is restarted with its state: `); n != times {
					t.Errorf("restarted %d times, want %d:\n%s", n, times, said)
				}
				checkEnded(t, x, 12)
				hosttest.CheckReplay(t, x.dir, plugged)
				checkLog(t, x)
				none(t, x)
			})
		}
	}
}

// checkEnded checks that all trials have ended; asha stops some of them early.
func checkEnded(t *testing.T, x *experiment, trials int) {
	t.Helper()
	m := x.look(t).Now().Machine
	if outcome, why := m.Outcome(); outcome != core.Finished || m.Count(core.Terminated) != trials {
		t.Errorf("%v (%s), %d trials ended well, of %d", outcome, why, m.Count(core.Terminated), trials)
	}
}

// checkLog checks that no plugin has written what it likes into the log.
func checkLog(t *testing.T, x *experiment) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(x.dir, "host.log"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "\x1b") || len(text) > 64<<20 {
		t.Errorf("the log has %d bytes, escapes: %v", len(text), strings.Contains(string(text), "\x1b"))
	}
}

// B-077, B-025: three failures within a minute end the experiment, saved: the
// status is that of a failure, the message has the plugin, how it ended, its last
// words and its log; nothing is left running; and it continues when the plugin
// behaves.
func TestRoguesAreGivenUp(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"searcher", "scheduler"} {
		for do, how := range map[string]string{
			"exit": "exited with status 3 in", "hang": "did not answer", "error": "the matrix is singular",
			"panic elsewhere": "exited with status 2 in", "children": "was ended by signal 9",
		} {
			t.Run(kind+" "+do, func(t *testing.T) {
				t.Parallel()
				x := withRogue(t, kind, do, 3)
				said := x.run(t, exitFailed)
				wants(t, said,
					kind+` "rogue" failed 3 times within 1m0s, and is given up; the last time: `+kind+` "rogue" `,
					how, "host.log")
				if do != "panic elsewhere" { // there the panic is the last word
					wants(t, said, "last words of "+do)
				}
				none(t, x)
				m := x.look(t).Now().Machine
				if outcome, _ := m.Outcome(); outcome != core.Failed || m.Count(core.Running) != 0 ||
					m.Count(core.Errored) != 0 {
					t.Errorf("%v with %d trials running and %d failed", outcome, m.Count(core.Running),
						m.Count(core.Errored))
				}
				x.run(t, 0)
				checkEnded(t, x, 12)
				hosttest.CheckReplay(t, x.dir, plugged)
				none(t, x)
			})
		}
	}
}

// B-107: a suggestion outside the space ends the experiment at once, saved, and
// names the searcher.
func TestRogueSuggestion(t *testing.T) {
	t.Parallel()
	x := write(t, rogues+"searcher: outside\n", nil)
	wants(t, x.run(t, exitFailed), "searcher outside: its suggestion 0 cannot be a trial")
	none(t, x)
}

// outside suggests what is not in the space.
var outside = sdk.SearcherPlugin{
	Info: sdk.Info{Name: "outside", Version: "1.0.0", Options: []byte(`{"type": "object"}`)},
	Open: func(sdk.Problem, []byte) (sdk.Searcher, sdk.Traits, error) { return straying{}, sdk.Traits{}, nil },
}

type straying struct{}

func (straying) Observe(context.Context, []sdk.Event) error { return nil }

func (straying) Suggest(_ context.Context, requests []sdk.Request) (s sdk.Suggestions, _ error) {
	for range requests {
		s.Points = append(s.Points, []float64{2})
	}
	return s, nil
}

var every = flag.Bool("every", false, "TestEveryMisdeedOfATrainable tries each misdeed in each kind of process, not "+
	"in one")

// Whatever a trainable does, its trials end well or fail with a message, and the
// experiment comes to its end by itself. B-070, B-023, B-025
func TestEveryMisdeedOfATrainable(t *testing.T) {
	t.Parallel()
	for i, knobs := range []string{
		"crash_at: 2, crash: exit", "crash_at: 1, crash: kill", "crash_at: 2, crash: panic", "crash_at: 2, crash: " +
			"panic_elsewhere",
		"crash_at: 3, fail_times: 1", "fail_at: 2", "hang_at: 2", "hang_at: 2, stubborn: true", "hang_at: 1, " +
			"fail_times: 1",
		"never_report: true", "missing_metric_at: 2", "nan_at: 2", "inf_at: 1", "nan_at: 4, done: true",
		"save_fails: true", "restore_fails: true, crash_at: 3, fail_times: 1", "save_delay: 0.3",
		"own_checkpoint_every: 1", "saves: false",
		"fork_children: 3", "fork_children: 2, detach_children: true, crash_at: 2, crash: kill",
		"flood_output: 20000", "garbage: 50", "big_log: 3000000", "memory_mb: 200",
		"ignore_term: true, sleep: 0.05, iterations: 100000", "stop_delay: 600, sleep: 0.05, iterations: 100000",
		"start_delay: 600",
		`score_metric: "a b"`, `metrics: {"\u202e": 1}`,
	} {
		for j, how := range []string{"reusable: false", "reusable: true", "shared: true"} {
			if !*every && j != i%3 || how == "shared: true" && strings.Contains(knobs, "iterations: 100000") {
				continue // a shared process that does not stop is given more time; see package host
			}
			t.Run(knobs+" "+how, func(t *testing.T) {
				t.Parallel()
				knobs := knobs
				if !strings.Contains(knobs, "iterations") {
					knobs += ", iterations: 4"
				}
				x := write(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, deadline: 3s, options: {`+knobs+", "+how+`}}
space: {}
trials: 2
checkpoint: {every: 2}
failures: {retries: 1}
stop: {iteration: 4}
stop_grace: 500ms
`, nil)
				p := x.start(t)
				select {
				case status := <-p.exit:
					if status != 0 && status != exitErrored {
						t.Errorf("status %d:\n%s", status, p.out.String())
					}
				case <-time.After(patience):
					p.signal(t, syscall.SIGQUIT)
					<-p.exit
					t.Fatalf("it does not come to its end:\n%s", p.out.String())
				}
				m := x.look(t).Now().Machine
				for no := range core.TrialNo(m.Trials()) {
					if v := m.View(no); v.State == core.Errored && v.Reason() == "" || !v.State.Final() {
						t.Errorf("trial %d is %v: %q", no, v.State, v.Reason())
					}
				}
				checkLog(t, x)
				hosttest.CheckReplay(t, x.dir, plugged)
				none(t, x)
			})
		}
	}
}
