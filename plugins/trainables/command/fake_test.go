package command

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/toolchain"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// A fakeRun is a host that decides as its test configures.
type fakeRun struct {
	trial  sdk.Trial
	decide func(r sdk.Result) error
	// recorded is when all results are recorded; nil: at once.
	recorded func() error
	hear     func(hint string)
	stopped  chan struct{}

	mu       sync.Mutex
	results  []sdk.Result
	logs     []string
	rejected []string
	hints    []string
	pids     []int
	waits    bool

	starting func() // called before Started is recorded
	early    bool   // a result came before Started
}

func newRun(t testing.TB) *fakeRun {
	dir := filepath.Join(t.TempDir(), "00017")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return &fakeRun{
		trial: sdk.Trial{
			ID: "t00017", Number: 17, Attempt: 1, Experiment: "digits", Seed: 42, Dir: dir,
			Params: []byte(`{"lr":1e-04,"optimizer":"sgd","net":{"units":64}}`), GraceSeconds: 30,
		},
		stopped: make(chan struct{}),
	}
}

func (f *fakeRun) Trial() sdk.Trial         { return f.trial }
func (f *fakeRun) Stopped() <-chan struct{} { return f.stopped }

func (f *fakeRun) Report(r sdk.Result, save func(string) error) error {
	f.mu.Lock()
	f.results = append(f.results, r)
	f.early = f.early || len(f.pids) == 0
	f.mu.Unlock()
	if f.decide == nil {
		return nil
	}
	return f.decide(r)
}

func (f *fakeRun) Recorded() error {
	if f.recorded == nil {
		return nil
	}
	return f.recorded()
}

func (f *fakeRun) Log(line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.logs = append(f.logs, line)
}

func (f *fakeRun) Reject(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rejected = append(f.rejected, text)
}

func (f *fakeRun) Hint(text string) {
	if f.hear != nil {
		f.hear(text)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hints = append(f.hints, text)
}

func (f *fakeRun) Started(pid int) {
	if f.starting != nil {
		f.starting()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pids = append(f.pids, pid)
}

func (f *fakeRun) Waiting() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waits = true
}

// hinted returns all hints for the user as one text.
func (f *fakeRun) hinted() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.hints, "\n")
}

// logged returns all log lines as one text.
func (f *fakeRun) logged() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.logs, "\n")
}

// values returns the values of one metric, in the order of the results.
func (f *fakeRun) values(metric string) (vs []float64) {
	for _, r := range f.results {
		for _, m := range r.Metrics {
			if m.Name == metric {
				vs = append(vs, m.Value)
			}
		}
	}
	return vs
}

type opts map[string]any

func openTest(t testing.TB, o opts) *program {
	t.Helper()
	if o["objectives"] == nil {
		o["objectives"] = []string{"accuracy"}
	}
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProgram(b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.sockets.clear)
	return p
}

// train runs one attempt to its end; a hang fails the test.
func train(t testing.TB, o opts, run *fakeRun) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	err := openTest(t, o).Train(ctx, run)
	if ctx.Err() != nil {
		t.Fatalf("the attempt hangs; log: %s", run.logged())
	}
	return err
}

func mustTrain(t testing.TB, o opts, run *fakeRun) {
	t.Helper()
	if err := train(t, o, run); err != nil {
		t.Fatal(err)
	}
}

func sh(script string) opts { return opts{"command": []string{"sh", "-c", escape(script)}} }

// escape doubles braces, which are placeholders in commands.
func escape(s string) string {
	return strings.NewReplacer("{", "{{", "}", "}}").Replace(s)
}

func python(t testing.TB, script string) opts {
	t.Helper()
	file := filepath.Join(t.TempDir(), "train.py")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return opts{"command": []string{toolchain.Need(t, toolchain.Python), "train.py"}, "base_dir": filepath.Dir(file)}
}

func (o opts) with(key string, value any) opts {
	o[key] = value
	return o
}

// eventually polls a condition.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// patiently retries with longer times until one is long enough for the program, however busy the
// machine is.
func patiently(t *testing.T, try func(t *testing.T, seconds float64) (enough bool)) {
	t.Helper()
	for _, seconds := range []float64{0.3, 3, 30} {
		if try(t, seconds) {
			return
		}
	}
	t.Error("half a minute was not enough")
}

func readFile(t testing.TB, parts ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func wantContains(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("lacks %q:\n%s", p, text)
		}
	}
}
