package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// gang returns a run with a bundle on each of the nodes.
func gang(t testing.TB, nodes ...string) *fakeRun {
	run := newRun(t)
	for i, node := range nodes {
		run.trial.Bundles = append(run.trial.Bundles,
			sdk.Bundle{Node: node, Resources: []byte(`{"cpu":"1"}`), Devices: []string{strconv.Itoa(i)}})
	}
	return run
}

// ranks returns a script with a part for rank 0 and one for the others. Each first writes its
// process id to a file, and waits until all have.
func ranks(zero, others string) opts {
	return sh(`
trap 'echo term >> ended.$RANK; exit 0' TERM
echo $$ > .pid.$RANK; mv .pid.$RANK pid.$RANK
while [ "$(ls pid.* | wc -l)" -lt "$WORLD_SIZE" ]; do sleep 0.01; done
if [ $RANK = 0 ]; then
`+zero+"\nelse\n"+others+"\nfi\n").with("workers", true)
}

// endless is a part that a signal ends. The sleep is in a separate process, because a shell handles
// signals only between commands.
const endless = `while :; do sleep 0.05; done`

// until returns a part that continues when a file exists.
func until(file string) string {
	return `while [ ! -e ` + file + ` ]; do sleep 0.01; done`
}

// allGone checks that no worker is left.
func allGone(t *testing.T, run *fakeRun) {
	t.Helper()
	for rank := range run.trial.Bundles {
		// A worker that ended before it could write its id leaves no file.
		if exists(run, fmt.Sprintf("pid.%d", rank)) && alive(t, run, fmt.Sprintf("pid.%d", rank)) {
			t.Errorf("rank %d is alive", rank)
		}
	}
}

// A worker gets the variables of programs for distributed training, and only its own devices; only
// rank 0 reports. B-033
func TestGangEnvironment(t *testing.T) {
	run := gang(t, "a", "b", "a")
	mustTrain(t, sh(`env; echo '{"accuracy":'$RANK'}'`).with("workers", true).with("environ",
		[]string{"PATH=" + os.Getenv("PATH"), "RANK=9", "MASTER_ADDR=elsewhere", "CUDA_VISIBLE_DEVICES=7"}), run)
	var port string
	for rank, want := range []map[string]string{
		{"RANK": "0", "WORLD_SIZE": "3", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2", "NODE_RANK": "0",
			"CUDA_VISIBLE_DEVICES": "0,2"},
		{"RANK": "1", "WORLD_SIZE": "3", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "NODE_RANK": "1",
			"CUDA_VISIBLE_DEVICES": "1"},
		{"RANK": "2", "WORLD_SIZE": "3", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2", "NODE_RANK": "0",
			"CUDA_VISIBLE_DEVICES": "0,2"},
	} {
		env := environment(t, run, rank)
		for name, value := range want {
			if env[name] != value {
				t.Errorf("rank %d has %s=%q, want %q", rank, name, env[name], value)
			}
		}
		if env["MASTER_ADDR"] != "127.0.0.1" || env["TUNEHOST_TRIAL_ID"] != "t00017" ||
			(env["TUNEHOST_CHANNEL"] != "") != (rank == 0) {
			t.Errorf("rank %d has %v", rank, env)
		}
		if port == "" {
			port = env["MASTER_PORT"]
		}
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 || env["MASTER_PORT"] != port {
			t.Errorf("rank %d has port %q, rank 0 %q", rank, env["MASTER_PORT"], port)
		}
	}
	if got := run.values("accuracy"); !slices.Equal(got, []float64{0}) {
		t.Errorf("results are %v, want that of rank 0", got)
	}
}

// environment returns a worker's printed environment.
func environment(t *testing.T, run *fakeRun, rank int) map[string]string {
	t.Helper()
	name := "stdout"
	if rank > 0 {
		name += "." + strconv.Itoa(rank)
	}
	env := map[string]string{}
	for line := range strings.Lines(readFile(t, run.trial.Dir, name)) {
		k, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		env[k] = v
	}
	return env
}

// TUNEHOST_BUNDLES has the granted bundles, with or without a gang.
func TestBundlesVariable(t *testing.T) {
	run := gang(t, "a", "b")
	run.trial.Devices, run.trial.Bundles[1].Devices = []string{"0"}, nil
	mustTrain(t, sh(`printf %s "$TUNEHOST_BUNDLES"; [ -z "$RANK" ]`), run)
	var got any
	if err := json.Unmarshal([]byte(readFile(t, run.trial.Dir, "stdout")), &got); err != nil {
		t.Fatal(err)
	}
	want := `[map[devices:[0] node:a rank:0 resources:map[cpu:1]] map[devices:[] node:b rank:1 resources:map[cpu:1]]]`
	if fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// The first worker that fails fails the attempt, and ends the others.
func TestWorkerFails(t *testing.T) {
	for name, c := range map[string]struct {
		o    opts
		want []string
	}{
		"rank 1": {ranks(endless, `echo boom >&2; exit 3`),
			[]string{"sh (rank 1) ended with exit status 3: boom", "stderr.1"}},
		"killed": {ranks(endless, `kill -9 $$`), []string{"sh (rank 1) was killed by signal 9", "stdout.1"}},
		"rank 0": {ranks(`echo boom >&2; exit 4`, endless),
			[]string{"sh (rank 0) ended with exit status 4: boom", "/stderr"}},
		"no log": {ranks(endless, `echo boom >&2; exit 3`).with("log", false),
			[]string{"(rank 1) ended with exit status 3: boom", "not logged"}},
		"after rank 0": {ranks(`exit 0`, `while [ -d /proc/$(cat pid.0) ]; do sleep 0.01; done; echo boom >&2; exit 5`),
			[]string{"sh (rank 1) ended with exit status 5: boom"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := gang(t, "a", "a")
			err := train(t, c.o, run)
			if err == nil {
				t.Fatal("no error")
			}
			wantContains(t, err.Error(), c.want...)
			allGone(t, run)
		})
	}
}

// A worker that exits with 0 before the others does not fail the attempt; neither does one that
// exits with 0 after rank 0, by itself or after a signal.
func TestWorkersEndAtOtherTimes(t *testing.T) {
	for name, c := range map[string]struct {
		o     opts
		ended string // by SIGTERM
	}{
		"before": {ranks(`while [ -d /proc/$(cat pid.1) ]; do sleep 0.01; done; sleep 0.05; echo '{"accuracy": 1}'`,
			`exit 0`), ""},
		"after": {ranks(`echo '{"accuracy": 1}'; exit 0`,
			`while [ -d /proc/$(cat pid.0) ]; do sleep 0.01; done; exit 0`), ""},
		"asked": {ranks(`echo '{"accuracy": 1}'; exit 0`, endless), "term\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			patiently(t, func(t *testing.T, seconds float64) bool {
				run := gang(t, "a", "a")
				run.trial.GraceSeconds = 4 * seconds
				if err := train(t, c.o, run); err != nil {
					wantContains(t, err.Error(), "sh (rank 1) did not end within")
					return false
				}
				if got := run.values("accuracy"); len(got) != 1 {
					t.Errorf("results %v", got)
				}
				allGone(t, run)
				ended, _ := os.ReadFile(filepath.Join(run.trial.Dir, "ended.1"))
				t.Logf("within %v seconds rank 1 was told %q, want %q", run.trial.GraceSeconds, ended, c.ended)
				return string(ended) == c.ended
			})
		})
	}
}

const deaf = `trap '' TERM; touch deaf; ` + endless

// A worker that runs longer than the grace time after rank 0 is killed, and the attempt fails.
func TestWorkerOutstays(t *testing.T) {
	t.Parallel()
	run := gang(t, "a", "a")
	run.trial.GraceSeconds = 0.5
	err := train(t, ranks(until("deaf")+"; exit 0", deaf), run)
	if err == nil {
		t.Fatal("no error")
	}
	wantContains(t, err.Error(), "sh (rank 1) did not end within 1s after rank 0 and was killed")
	allGone(t, run)
}

// B-023: all workers are asked to stop; one that does not is killed after the grace time.
func TestGangStops(t *testing.T) {
	t.Parallel()
	patiently(t, func(t *testing.T, seconds float64) bool {
		run := gang(t, "a", "a", "a")
		run.trial.GraceSeconds = seconds
		go func() {
			for !exists(run, "deaf") || !exists(run, "pid.0") || !exists(run, "pid.1") {
				time.Sleep(time.Millisecond)
			}
			close(run.stopped)
		}()
		err := train(t, ranks(endless, "if [ $RANK = 2 ]; then "+deaf+"; else "+endless+"; fi"), run)
		if !errors.Is(err, sdk.ErrStopped) {
			t.Errorf("it ended with %v", err)
		}
		allGone(t, run)
		return exists(run, "ended.0") && exists(run, "ended.1")
	})
}

// A cancelled attempt leaves no worker.
func TestGangIsKilled(t *testing.T) {
	t.Parallel()
	run := gang(t, "a", "a")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	p := openTest(t, ranks(endless, endless))
	go func() { done <- p.Train(ctx, run) }()
	eventually(t, "all run", func() bool { return exists(run, "pid.0") && exists(run, "pid.1") })
	cancel()
	if err := <-done; !errors.Is(err, sdk.ErrStopped) {
		t.Errorf("it ended with %v", err)
	}
	allGone(t, run)
}

// If one worker cannot start, none continues.
func TestGangIsNotWhole(t *testing.T) {
	t.Parallel()
	run := gang(t, "a", "a", "a")
	if err := os.Mkdir(filepath.Join(run.trial.Dir, "stdout.2"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := train(t, sh(`echo $$ > pid; `+endless).with("workers", true), run)
	if err == nil || !strings.Contains(err.Error(), "stdout.2") {
		t.Errorf("it ended with %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(run.trial.Dir, "pid")); err == nil {
		if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && syscall.Kill(pid, 0) == nil {
			t.Error("a worker is alive")
		}
	}
}

// Only silence of rank 0 counts as a hang.
func TestGangIsSilent(t *testing.T) {
	t.Parallel()
	for _, log := range []bool{true, false} {
		run := gang(t, "a", "a")
		err := train(t, ranks(endless, `while :; do echo busy; echo busy >&2; sleep 0.05; done`).with("deadline",
			0.3).with("log", log), run)
		if err == nil {
			t.Fatal("no error")
		}
		wantContains(t, err.Error(), "sh (rank 0) was silent")
		allGone(t, run)
	}
}

// Variables of gangs that the file must not set.
func TestGangVariablesAreSet(t *testing.T) {
	o := opts{"command": []string{"true"}, "env": map[string]string{"MASTER_PORT": "29500"}}
	if _, err := newProgram(jsonOf(t, o)); err != nil {
		t.Errorf("without workers: %v", err)
	}
	if _, err := newProgram(jsonOf(t, o.with("workers", true))); err == nil ||
		!strings.Contains(err.Error(), "MASTER_PORT") {
		t.Errorf("with workers: %v", err)
	}
}

func jsonOf(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// No two gangs use the same port.
func TestPorts(t *testing.T) {
	var p ports
	seen := map[int]bool{}
	for range 200 {
		port, err := p.take()
		if err != nil {
			t.Fatal(err)
		}
		if port < 1 || port > 65535 || seen[port] {
			t.Fatalf("port %d, after %d others", port, len(seen))
		}
		seen[port] = true
	}
	for port := range seen {
		p.giveBack(port)
	}
	p.giveBack(0)
	if len(p.taken) != 0 {
		t.Errorf("%d are still taken", len(p.taken))
	}
}

// The workers meet where rank 0 runs.
func TestGangAddress(t *testing.T) {
	far := []sdk.Bundle{{Node: "a", Address: "10.1.0.7"}, {Node: "b", Address: "10.1.0.8"}}
	for want, bundles := range map[string][]sdk.Bundle{"10.1.0.7": far, "127.0.0.1": {{Node: "a"}, {Node: "b"}}} {
		for rank := range bundles {
			if env := gangEnv(bundles, rank, 7); !slices.Contains(env, "MASTER_ADDR="+want) {
				t.Errorf("rank %d has %v", rank, env)
			}
		}
	}
	if text := bundlesText(far); !strings.Contains(text, `"address":"10.1.0.8"`) {
		t.Error(text)
	}
}
