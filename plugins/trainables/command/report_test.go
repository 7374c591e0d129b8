package command

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/channel"
)

// B-015
func TestPrintedJSON(t *testing.T) {
	run := newRun(t)
	run.trial.Iteration = 4
	mustTrain(t, sh(`
		echo starting
		echo '{"accuracy": 0.5, "val": {"loss": NaN, "top/5": -Infinity}, "note": "x", "list": [1], "ok": true}'
		echo '{"loss": 1}'
		echo '{"accuracy": "high"}'
		echo '{"accuracy": 0.6, "iteration": 9, "two words": 1}'
		printf '  {"accuracy": "Infinity", "training_iteration": 10.0}\r\n'
		printf '{"accuracy": 0.7}'`), run)
	type m = sdk.Metric
	want := []sdk.Result{
		{Metrics: []m{{Name: "accuracy", Value: 0.5}, {Name: "val/loss", Value: math.NaN()}, {Name: "val/top/5", Value: math.Inf(-1)}}, Iteration: 5},
		{Metrics: []m{{Name: "accuracy", Value: 0.6}}, Iteration: 9},
		{Metrics: []m{{Name: "accuracy", Value: math.Inf(1)}}, Iteration: 10},
		{Metrics: []m{{Name: "accuracy", Value: 0.7}}, Iteration: 11}, // the last line has no end
	}
	if fmt.Sprint(run.results) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", run.results, want)
	}
	wantContains(t, run.logged(), "two words")
}

func TestPrintedFromZero(t *testing.T) {
	run := newRun(t)
	mustTrain(t, sh(`for i in 0 1 2; do echo "{\"accuracy\": 1, \"iteration\": $i}"; done`), run)
	var got []uint64
	for _, r := range run.results {
		got = append(got, r.Iteration)
	}
	if !slices.Equal(got, []uint64{1, 2, 3}) {
		t.Errorf("iterations are %v", got)
	}
}

func TestPrintedGarbage(t *testing.T) {
	run := newRun(t)
	mustTrain(t, python(t, `
import sys
out = sys.stdout.buffer
for line in [b'{"accuracy": }', b'{"accuracy": 1, "accuracy": 2}', b'{' * 5000 + b'}', b'{"accuracy":1,"d":' + b'[' * 100 + b']' * 100 + b'}',
             b'{"accuracy":1,' + b','.join(b'"m%d":1' % i for i in range(10001)) + b'}', b'\xff\xfe\x00{"accuracy":1}', b'{}', b'{"accuracy": 1} x', b'\x1b[2J']:
    out.write(line + b'\n')
out.write(b'{"accuracy": 1, "pad": "' + b'x' * (3 << 20) + b'"}\n')
out.write(b'{"accuracy": 0.25}\n')
`), run)
	if got := run.values("accuracy"); !slices.Equal(got, []float64{0.25}) {
		t.Errorf("results: %v", got)
	}
	wantContains(t, run.logged(), "no result", "1048576 bytes")
	if n := len(run.logs); n > 3 {
		t.Errorf("%d lines were logged:\n%s", n, run.logged())
	}
	if size := len(readFile(t, run.trial.Dir, "stdout")); size < 3<<20 {
		t.Errorf("the log has only %d bytes", size)
	}
}

func TestPatterns(t *testing.T) {
	run := newRun(t)
	mustTrain(t, sh(`
		echo 'epoch 3 loss: 0.25'
		echo 'nothing'
		echo 'Accuracy=91.5%'
		echo 'Accuracy=oops%'
		echo 'epoch 4 loss: nan Accuracy=92%'
		echo '{"accuracy": 1}'`).with("metrics", map[string]string{
		"accuracy": `Accuracy=(\S+)%`, "loss": `loss: (\S+)`, "iteration": `epoch (\d+)`}), run)
	if got, want := run.values("accuracy"), []float64{91.5, 92}; !slices.Equal(got, want) {
		t.Errorf("accuracy %v, want %v", got, want)
	}
	if got := run.values("loss"); len(got) != 2 || got[0] != 0.25 || !math.IsNaN(got[1]) {
		t.Errorf("loss %v", got)
	}
	if run.results[0].Iteration != 3 || run.results[1].Iteration != 4 {
		t.Errorf("iterations: %v", run.results)
	}
	wantContains(t, run.logged(), "oops")
}

// B-013: no result is no failure, but the user learns what was printed instead.
func TestNoResult(t *testing.T) {
	run := newRun(t)
	mustTrain(t, sh(`echo '{"acc": 1, "loss": 2}'`), run)
	wantContains(t, run.logged(), "accuracy", "acc, loss")
}

func TestCheckpoints(t *testing.T) {
	run := newRun(t)
	dir := run.trial.Dir
	if err := os.MkdirAll(filepath.Join(dir, "checkpoints", "3"), 0o700); err != nil {
		t.Fatal(err)
	}
	mustTrain(t, sh(`
		mkdir $TUNEHOST_CHECKPOINT_DIR/1 mine; touch file; ln -s /etc link
		for c in $TUNEHOST_CHECKPOINT_DIR/1 mine /etc . link file checkpoints/3 $TUNEHOST_CHECKPOINT_DIR ../.. missing; do
			echo "{\"accuracy\": 1, \"checkpoint\": \"$c\"}"
		done`), run)
	var got []string
	for _, r := range run.results {
		got = append(got, r.Checkpoint)
	}
	want := append([]string{dir + "/.checkpoints/1", dir + "/mine"}, make([]string, 8)...)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("checkpoints %q, want %q", got, want)
	}
}

// A slow host does not hold up a program that prints; the last result arrives.
func TestFlood(t *testing.T) {
	run := newRun(t)
	printed := filepath.Join(run.trial.Dir, "printed")
	run.decide = func(r sdk.Result) error {
		if r.Iteration == 1 { // decided only when the program has printed all
			eventually(t, "the program goes on while its first result is decided", func() bool {
				_, err := os.Stat(printed)
				return err == nil
			})
		}
		return nil
	}
	const n = 60_000
	mustTrain(t, python(t, fmt.Sprintf(`
import sys
for i in range(%d):
    print('{"accuracy": %%d}' %% (i + 1))
sys.stdout.flush()
open("printed", "w").close()
`, n)), run)
	last := run.results[len(run.results)-1]
	if last.Iteration != n || last.Metrics[0].Value != n {
		t.Errorf("the last result is %v", last)
	}
	if len(run.results) > maxQueued+20_000 { // and what the pipe still held
		t.Errorf("%d results arrived", len(run.results))
	}
	if c := strings.Count(run.logged(), "dropped"); c != 1 {
		t.Errorf("%d warnings:\n%s", c, run.logged())
	}
	if lines := strings.Count(readFile(t, run.trial.Dir, "stdout"), "\n"); lines != n {
		t.Errorf("the log has %d lines", lines)
	}
}

func TestQueueDrops(t *testing.T) {
	q := newQueue(3)
	for i, c := range []string{"keep", "", "", "", ""} {
		q.push(item{result: sdk.Result{Iteration: uint64(i + 1), Checkpoint: c}})
	}
	q.push(item{result: sdk.Result{Iteration: 6}, answer: make(chan channel.Decision, 1)})
	q.close()
	var got []uint64
	for it, ok := q.pop(); ok; it, ok = q.pop() {
		got = append(got, it.result.Iteration)
	}
	if want := []uint64{1, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("left are %v, want %v", got, want)
	}
}

const pythonChannel = `
import json, os, socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(os.environ["TUNEHOST_CHANNEL"])
f = s.makefile("rw")
def ask(line):
    f.write(line + "\n"); f.flush()
    return json.loads(f.readline())
def report(**kw): return ask(json.dumps(kw))
`

func TestChannel(t *testing.T) {
	run := newRun(t)
	mustTrain(t, python(t, pythonChannel+`
os.mkdir(os.environ["TUNEHOST_CHECKPOINT_DIR"] + "/c")
assert report(metrics={"accuracy": 0.5, "val": {"loss": float("nan")}}, iteration=3)["decision"] == "continue"
assert report(metrics={"accuracy": 0.6}, iteration=None, checkpoint=".checkpoints/c")["decision"] == "continue"
for bad in ['garbage', '[]', '{}', '{"metrics":{}}', '{"metrics":3}', '{"metrics":{"a":"x"}}', '{"metrics":{"a":1},"iteration":0}',
            '{"metrics":{"a":1},"iteration":1.5}', '{"metrics":{"a b":1}}', '{"metrics":{"a":1},"colour":1}', '{"metrics":{"a":1,"a":2}}',
            '{"metrics":{"a":1},"checkpoint":"/etc"}', '{"metrics":{"a":1},"checkpoint":7}', '{"metrics":{"%s":1}}' % ("x" * 129),
            '{"a":' * 200 + '1' + '}' * 200, '{"metrics":{' + ','.join('"m%d":1' % i for i in range(10001)) + '}}',
            '{"metrics":{"a":' + ' ' * (2 << 20) + '1}}', '\x00', '{"metrics":{"a":1}} {"metrics":{"a":1}}']:
    a = ask(bad)
    assert list(a) == ["error"], (bad[:80], a)
f.write('\n' + '{"metrics":{"accuracy":0.7}}\n' * 2); f.flush()   # an empty line, and two at once
assert f.readline() == f.readline() == '{"decision":"continue"}\n'
f.write('{"metrics":{"accuracy":0.8}}\n'); f.flush()   # leaves without listening
`), run)
	if got, want := run.values("accuracy"), []float64{0.5, 0.6, 0.7, 0.7, 0.8}; !slices.Equal(got, want) {
		t.Fatalf("accuracy %v, want %v", got, want)
	}
	if got := run.results[1]; got.Iteration != 4 || got.Checkpoint != run.trial.Dir+"/.checkpoints/c" {
		t.Errorf("second result: %+v", got)
	}
	if len(run.rejected) != maxRejected+1 {
		t.Errorf("%d rejected lines were noted", len(run.rejected))
	}
}

// A shell script connects anew for each report; `tunehost report` is such a client.
func TestChannelFromShell(t *testing.T) {
	run := newRun(t)
	run.decide = func(r sdk.Result) error {
		if r.Iteration == 3 {
			return sdk.ErrPaused
		}
		return nil
	}
	t.Setenv("REPORT_CLIENT", "1")
	err := train(t, sh(`for i in 1 2 3 4; do
		d=$(`+os.Args[0]+` accuracy 0.$i) || exit 1
		echo $d
		[ $d = continue ] || exit 0
	done`), run)
	if err != sdk.ErrPaused {
		t.Errorf("got %v", err)
	}
	if got, want := readFile(t, run.trial.Dir, "stdout"), "continue\ncontinue\npause\n"; got != want {
		t.Errorf("the script saw %q", got)
	}
}

// TestMain makes the test's own program the client of TestChannelFromShell and
// the host of TestHostDies.
func TestMain(m *testing.M) {
	if os.Getenv("DYING_HOST") != "" {
		dyingHost()
	}
	if os.Getenv("REPORT_CLIENT") == "" || len(os.Args) != 3 {
		os.Exit(m.Run())
	}
	var v float64
	fmt.Sscan(os.Args[2], &v)
	d, err := channel.Report(os.Getenv("TUNEHOST_CHANNEL"), map[string]float64{os.Args[1]: v}, 0, "")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(d)
}

func TestManyConnections(t *testing.T) {
	run := newRun(t)
	mustTrain(t, python(t, pythonChannel+`
import threading
def one(i):
    s = socket.socket(socket.AF_UNIX); s.connect(os.environ["TUNEHOST_CHANNEL"])
    s.sendall(b'{"metrics":{"accuracy":%d}}\n' % i)
    assert s.recv(100) == b'{"decision":"continue"}\n'
ts = [threading.Thread(target=one, args=(i,)) for i in range(50)]
for t in ts: t.start()
for t in ts: t.join()
`), run)
	got := run.values("accuracy")
	slices.Sort(got)
	if len(got) != 50 || got[0] != 0 || got[49] != 49 {
		t.Errorf("results: %v", got)
	}
}

// The first way that brings a result counts, so that nothing counts twice.
func TestTwoWays(t *testing.T) {
	run := newRun(t)
	mustTrain(t, python(t, pythonChannel+`
report(metrics={"accuracy": 1})
print('{"accuracy": 1}')
report(metrics={"accuracy": 2})
print('{"accuracy": 2}')
`), run)
	if got := run.values("accuracy"); !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("channel first: %v", got)
	}
	wantContains(t, run.logged(), "printed results are ignored")

	run = newRun(t)
	first := make(chan struct{})
	run.decide = func(sdk.Result) error {
		select {
		case <-first:
		default:
			close(first)
			_ = os.WriteFile(filepath.Join(run.trial.Dir, "taken"), nil, 0o600)
		}
		return nil
	}
	mustTrain(t, python(t, pythonChannel+`
import time
print('{"accuracy": 1}', flush=True)
while not os.path.exists("taken"): time.sleep(0.002)
assert report(metrics={"accuracy": 1})["decision"] == "continue"
os.mkdir(".checkpoints/c")
assert "print the checkpoint" in report(metrics={"accuracy": 1}, checkpoint=".checkpoints/c")["error"]
print('{"accuracy": 2}')
`), run)
	if got := run.values("accuracy"); !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("printing first: %v", got)
	}
	wantContains(t, run.logged(), "by the channel are ignored")
}

// Iterations that do not grow are no count: the host counts instead of what is
// printed, and what comes by the channel is refused. A first one may be any.
func TestIterationsThatDoNotGrow(t *testing.T) {
	run := newRun(t)
	mustTrain(t, sh(`for i in 7 8 8 3 9; do echo "{\"accuracy\": 1, \"iteration\": $i}"; done`), run)
	var got []uint64
	for _, r := range run.results {
		got = append(got, r.Iteration)
	}
	if !slices.Equal(got, []uint64{7, 8, 9, 10, 11}) || strings.Count(run.logged(), "iterations that are printed are ignored") != 1 {
		t.Errorf("%v\n%s", got, run.logged())
	}
	run = newRun(t)
	mustTrain(t, python(t, pythonChannel+`
assert report(metrics={"accuracy": 1}, iteration=5)["decision"] == "continue"
assert "iteration 5 is not higher" in report(metrics={"accuracy": 1}, iteration=5)["error"]
assert report(metrics={"accuracy": 1}, iteration=6)["decision"] == "continue"
`), run)
	if len(run.results) != 2 {
		t.Errorf("%v", run.results)
	}
}
