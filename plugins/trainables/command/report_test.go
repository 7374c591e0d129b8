package command

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
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
		echo '{"accuracy": 0.5, "val": {"loss": NaN, "top/5": -Infinity}, "note": "x", "list": [1], "ok": true, `+
		`"none": null}'
		echo '{"loss": 1}'
		echo '{"accuracy": "high"}'
		echo '{"accuracy": 0.6, "iteration": 9, "two words": 1, "acc@1é": 2, "bell\\u0007": 3}'
		printf '  {"accuracy": "Infinity", "training_iteration": 10.0}\r\n'
		printf '\357\273\277{"accuracy": 0.8}\n'
		printf '{"accuracy": 0.7}'`), run)
	type m = sdk.Metric
	want := []sdk.Result{
		{Metrics: []m{{Name: "accuracy", Value: 0.5}, {Name: "val/loss", Value: math.NaN()},
			{Name: "val/top/5", Value: math.Inf(-1)}}, Iteration: 5,
			Values: []byte(`{"note":"x","list":[1],"ok":true,"none":null}`)},
		{Metrics: []m{{Name: "accuracy", Value: 0.6}, {Name: "two words", Value: 1}, {Name: "acc@1é", Value: 2}},
			Iteration: 9},
		{Metrics: []m{{Name: "accuracy", Value: math.Inf(1)}, {Name: "training_iteration", Value: 10}}, Iteration: 10},
		{Metrics: []m{{Name: "accuracy", Value: 0.8}}, Iteration: 11}, // begins with a byte order mark
		{Metrics: []m{{Name: "accuracy", Value: 0.7}}, Iteration: 12}, // the last line has no end
	}
	if fmt.Sprint(run.results) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", run.results, want)
	}
	wantContains(t, run.hinted(), "bell")
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
for line in [b'{"accuracy": }', b'{"accuracy": 1, "accuracy": 2}', b'{' * 5000 + b'}', b'{"accuracy":1,"d":' + b'[' `+
		`* 100 + b']' * 100 + b'}',
             b'{"accuracy":1,' + b','.join(b'"m%d":1' % i for i in range(10001)) + b'}', `+
		`b'\xff\xfe\x00{"accuracy":1}', b'{}', b'{"accuracy": 1} x', b'\x1b[2J']:
    out.write(line + b'\n')
out.write(b'{"accuracy": 1, "pad": "' + b'x' * (3 << 20) + b'"}\n')
out.write(b'{"accuracy": 0.25}\n')
`), run)
	if got := run.values("accuracy"); !slices.Equal(got, []float64{0.25}) {
		t.Errorf("results: %v", got)
	}
	wantContains(t, run.logged(), "is not a result")
	wantContains(t, run.hinted(), "is given twice", "a result may have 1048576")
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

// B-013: a missing result is not a failure, but the user sees what was printed instead.
func TestNoResult(t *testing.T) {
	run := newRun(t)
	mustTrain(t, sh(`echo '{"acc": 1, "loss": 2}'`), run)
	wantContains(t, run.hinted(), "accuracy", "acc, loss")
}

func TestCheckpoints(t *testing.T) {
	run := newRun(t)
	dir := run.trial.Dir
	if err := os.MkdirAll(filepath.Join(dir, "checkpoints", "3"), 0o700); err != nil {
		t.Fatal(err)
	}
	mustTrain(t, sh(`
		mkdir $TUNEHOST_CHECKPOINT_DIR/1 mine; touch file; ln -s /etc link
		for c in $TUNEHOST_CHECKPOINT_DIR/1 mine /etc . link file checkpoints/3 $TUNEHOST_CHECKPOINT_DIR ../.. `+
		`missing; do
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

// A program that prints faster than results are decided is blocked, and loses none.
func TestFlood(t *testing.T) {
	run := newRun(t)
	held := make(chan struct{})
	run.hear = func(string) { close(held) }
	run.decide = func(r sdk.Result) error {
		if r.Iteration == 1 {
			<-held
		}
		return nil
	}
	const n = 60_000
	mustTrain(t, python(t, fmt.Sprintf(`
for i in range(%d):
    print('{"accuracy": %%d}' %% (i + 1))
`, n)), run)
	for i, r := range run.results {
		if r.Iteration != uint64(i+1) || r.Metrics[0].Value != float64(i+1) {
			t.Fatalf("result %d is %v", i+1, r)
		}
	}
	if len(run.results) != n || len(run.hints) != 1 || !strings.Contains(run.hints[0], "faster") {
		t.Errorf("%d results arrived; %s", len(run.results), run.hinted())
	}
	if lines := strings.Count(readFile(t, run.trial.Dir, "stdout"), "\n"); lines != n {
		t.Errorf("the log has %d lines", lines)
	}
}

// A result that is lost because of a limit is a warning for the user, once, whether other results come or not.
func TestLostResultIsToldOnce(t *testing.T) {
	const many = `"{'accuracy': 2, " + ", ".join(f"'m{i}': {i}" for i in range(%d)) + "}"`
	line := "print((" + fmt.Sprintf(many, sdk.MaxMetrics) + ").replace(\"'\", '\"'))\n"
	const result = "print('{\"accuracy\": 1}')\n"
	for script, results := range map[string]int{result + line + line: 1, line + result + line: 1, line + line: 0} {
		run := newRun(t)
		mustTrain(t, python(t, script), run)
		if len(run.results) != results || len(run.hints) != 1 ||
			!strings.Contains(run.hints[0], "more than 10000 metrics") {
			t.Errorf("%d results; %q", len(run.results), run.hints)
		}
	}
}

// A line that is cut may have lost a result: the user is told.
func TestLongLineIsTold(t *testing.T) {
	run := newRun(t)
	mustTrain(t, python(t, `
for i in range(3): print('x' * (1 << 21))
print('{"accuracy": 1}')
`), run)
	if len(run.hints) != 1 || !strings.Contains(run.hints[0], "only the first 1048576 are read") {
		t.Errorf("%q", run.hints)
	}
}

// Lines that give no better clue cost no text, and of a long line only the beginning is examined.
func TestFloodOfText(t *testing.T) {
	c := newClues([]string{"accuracy"}, false)
	long := []byte(strings.Repeat("x", channel.MaxLineBytes-15) + " accuracy: 0.5")
	if c.stdout(long, nil, nil); c.best != "" {
		t.Errorf("the end of a long line gave the clue %q", c.best)
	}
	for _, line := range []string{"Accuracy: 0.5", "loss: 0.5", `log: {"accuracy": 1}`} {
		b := []byte(line)
		c.stdout(b, nil, nil)
		if n := testing.AllocsPerRun(100, func() { c.stdout(b, nil, nil) }); n > 0 {
			t.Errorf("%s: %v allocations", line, n)
		}
	}
}

// BenchmarkFlood measures a program that prints no result: short lines, and long ones that are not UTF-8.
func BenchmarkFlood(b *testing.B) {
	for name, script := range map[string]string{
		"short": "yes | head -c 20M",
		"long":  `yes "$(head -c 100k /dev/zero | tr '\0' '\377')y" | tr -d '\n' | head -c 20M`,
		"text":  "yes 'step 17 took 0.25 s' | head -c 20M",
	} {
		b.Run(name, func(b *testing.B) {
			p := openTest(b, sh(script))
			b.SetBytes(20 << 20)
			for b.Loop() {
				if err := p.Train(b.Context(), newRun(b)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestQueueHoldsUp(t *testing.T) {
	q := newQueue(2)
	never := func() { t.Error("it is full") }
	q.push(item{}, never)
	q.push(item{}, never)
	q.push(item{answer: make(chan channel.Decision, 1)}, never) // there is always room
	full, done := make(chan struct{}), make(chan struct{})
	go func() {
		q.push(item{result: sdk.Result{Iteration: 4}}, func() { close(full) })
		close(done)
	}()
	<-full
	eventually(t, "the program is held up", q.holds)
	for range 2 {
		q.pop()
	}
	<-done
	if q.holds() {
		t.Error("it is still held up")
	}
	q.close()
	var got []uint64
	for it, ok := q.pop(); ok; it, ok = q.pop() {
		got = append(got, it.result.Iteration)
	}
	if !slices.Equal(got, []uint64{0, 4}) {
		t.Errorf("left are %v", got)
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
for bad in ['garbage', '[]', '{}', '{"metrics":{}}', '{"metrics":3}', '{"metrics":{"a":"x"}}', '{"metrics":{"a":1},`+
		`"iteration":0}',
            '{"metrics":{"a":1},"iteration":1.5}', '{"metrics":{"a\\u0007b":1}}', '{"metrics":{"a":1},"colour":1}', `+
		`'{"metrics":{"a":1,"a":2}}',
            '{"metrics":{"a":1},"checkpoint":"/etc"}', '{"metrics":{"a":1},"checkpoint":7}', '{"metrics":{"%s":1}}' `+
		`% ("x" * 129),
            '{"a":' * 200 + '1' + '}' * 200, '{"metrics":{' + ','.join('"m%d":1' % i for i in range(10001)) + '}}',
            '{"metrics":{"a":' + ' ' * (2 << 20) + '1}}', '\x00', '{"metrics":{"a":1}} {"metrics":{"a":1}}']:
    a = ask(bad)
    assert list(a) == ["error"], (bad[:80], a)
f.write('\n' + '{"metrics":{"accuracy":0.7}}\n' * 2); f.flush()   # an empty line, and two at once
assert list(json.loads(f.readline())) == ["error"]
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

// A shell script connects for each report; `tunehost report` is such a client.
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

// TestMain also runs the test binary as the client of TestChannelFromShell and the host of
// TestHostDies.
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

// The first result decides the way, so that nothing counts twice: after a report, a program may
// print anything.
func TestReportsThenPrints(t *testing.T) {
	run := newRun(t)
	mustTrain(t, python(t, pythonChannel+`
report(metrics={"accuracy": 1})
print('{"accuracy": 1}')
report(metrics={"accuracy": 2})
print('{"accuracy": 2}')
`), run)
	if got := run.values("accuracy"); !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("results: %v", got)
	}
	wantContains(t, run.logged(), "printed lines of JSON are not results")
}

// A program that prints results and then reports gets errors for its reports, in every trial:
// output before a report is processed before it, however busy the reader is.
func TestPrintsThenReports(t *testing.T) {
	p := openTest(t, python(t, pythonChannel+`
os.write(1, b'{"accuracy": 1}\n')
why = report(metrics={"accuracy": 2})["error"]
assert "print no line that looks like a result" in why, why
os.mkdir(".checkpoints/c")
assert report(metrics={"accuracy": 3}, checkpoint=".checkpoints/c")["error"] == why
os.write(1, b'{"accuracy": 4}\n')
`))
	var all sync.WaitGroup
	for range 16 {
		run := newRun(t)
		all.Go(func() {
			if err := p.Train(t.Context(), run); err != nil {
				t.Error(err)
			}
			if got := run.values("accuracy"); !slices.Equal(got, []float64{1, 4}) || len(run.rejected) != 2 {
				t.Errorf("results: %v; refused: %q", got, run.rejected)
			}
		})
	}
	all.Wait()
	said := ""
	p.hinted.Range(func(topic, _ any) bool { said += fmt.Sprint(topic); return true })
	if said != "both" {
		t.Errorf("the user was told of %q", said)
	}
}

// B-016, B-061: iterations that do not increase are not used: results are counted from there on,
// with a warning, and the reported value is kept. The first one may have any value.
func TestIterationsThatDoNotGrow(t *testing.T) {
	run := newRun(t)
	mustTrain(t, sh(`for i in 7 8 8 3 9; do echo "{\"accuracy\": 1, \"iteration\": $i}"; done`), run)
	run2 := newRun(t)
	mustTrain(t, python(t, pythonChannel+`
for i in (7, 8, 8, 3, 9):
    assert report(metrics={"accuracy": 1}, iteration=i)["decision"] == "continue"
`), run2)
	for _, r := range []*fakeRun{run, run2} {
		if got := iterations(r); got != `[7 8 9{"reported_iteration":8} 10{"reported_iteration":3} `+
			`11{"reported_iteration":9}]` {
			t.Error(got)
		}
		if len(r.hints) != 1 || !strings.Contains(r.hints[0], "iteration 8 after iteration 8") {
			t.Error(r.hinted())
		}
	}
}

// iterations returns the iterations of the results, with their values.
func iterations(run *fakeRun) string {
	var list []string
	for _, r := range run.results {
		list = append(list, fmt.Sprint(r.Iteration)+string(r.Values))
	}
	return fmt.Sprint(list)
}

func TestPrintedIterations(t *testing.T) {
	for _, c := range []struct {
		printed, want, hint string
		restored            uint64
	}{
		{"0 1 2", `[1{"reported_iteration":0} 2{"reported_iteration":1} 3{"reported_iteration":2}]`, "1 is added", 0},
		{"1 2 5", `[1 2 5]`, "", 0},
		{"1.5 2", `[1{"reported_iteration":1.5} 2]`,
			"iteration 1.5 is not a whole number from 1; from here on results are counted", 0},
		{"-5", `[1{"reported_iteration":-5}]`, "iteration -5 is not a whole number from 1", 0},
		{"9007199254740991 9007199254740993", `[9007199254740991 ` +
			`9007199254740992{"reported_iteration":9007199254740992}]`,
			"iteration is beyond 9007199254740991", 0},
		// it counts from 0, and continued after 3
		{"4 5", `[5{"reported_iteration":4} 6{"reported_iteration":5}]`, "1 is added", 4},
		{"5 6", `[5 6]`, "", 4},
		{"1 2", `[1 2]`, "", 4}, // it started again
		{"0 0", `[1{"reported_iteration":0} 2{"reported_iteration":0}]`, "1 is added", 0},
	} {
		run := newRun(t)
		if run.trial.Iteration = c.restored; c.restored > 0 {
			run.trial.Restore = t.TempDir()
		}
		mustTrain(t, sh(`for i in `+c.printed+`; do echo "{\"accuracy\": 1, \"iteration\": $i}"; done`), run)
		if got := iterations(run); got != c.want || !strings.Contains(run.hinted(), c.hint) || c.hint == "" &&
			run.hinted() != "" {
			t.Errorf("%s: %s, want %s; hints: %s", c.printed, got, c.want, run.hinted())
		}
	}
}

// A result with done is the last one: the program has time to exit, and loses no earlier results.
func TestDone(t *testing.T) {
	run := newRun(t)
	err := train(t, sh(`trap 'echo saved >saved; exit 0' TERM
		echo '{"accuracy": 1, "done": false}'; echo '{"accuracy": 2, "done": true}'; echo '{"accuracy": 3}'
		while :; do sleep 0.01; done`), withGrace(run, 0.1))
	if !errors.Is(err, sdk.ErrStopped) || !slices.Equal(run.values("accuracy"), []float64{1, 2}) ||
		!run.results[1].Done || run.results[0].Done {
		t.Errorf("%v: %+v", err, run.results)
	}
	run = newRun(t)
	err = train(t, python(t, pythonChannel+`
assert report(metrics={"accuracy": 1, "note": "x", "training_iteration": 4})["decision"] == "continue"
assert report(metrics={"accuracy": 2, "done": True})["decision"] == "stop"
`), run)
	if !errors.Is(err, sdk.ErrStopped) || iterations(run) != `[4{"note":"x"} 5]` || !run.results[1].Done {
		t.Errorf("%v: %+v", err, run.results)
	}
}
