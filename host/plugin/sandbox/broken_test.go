package sandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
	"github.com/tunehost/tunehost/host/plugin/sandbox/sandboxtest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

func broken(t testing.TB, kind sdk.Kind, name string) sandbox.Config {
	t.Helper()
	path, err := filepath.Abs("testdata/broken/" + name + ".wasm")
	if err != nil {
		t.Fatal(err)
	}
	return sandbox.Config{Kind: kind, Name: name, Path: path}
}

// says checks that an error is of a kind, begins with the plugin, contains a text, and is one line.
func says(t *testing.T, err error, f plugin.Failure, title, want string) {
	t.Helper()
	switch {
	case err == nil:
		t.Error("it did not fail")
	case plugin.FailureOf(err) != f:
		t.Errorf("the failure is %q, want %q: %v", plugin.FailureOf(err), f, err)
	case !strings.HasPrefix(err.Error(), title) || !strings.Contains(err.Error(), want):
		t.Errorf("%q\nlacks %q", err, want)
	case strings.Contains(err.Error(), "\n"):
		t.Errorf("%q is more than a line", err)
	}
}

// B-074: an unusable module gives a reason and does no harm.
func TestBrokenAtStart(t *testing.T) {
	for name, want := range map[string]string{
		"loop-start":      "was not ready within 1s of its start",
		"loop-initialize": "was not ready within 1s of its start",
		"trap-initialize": "cannot be used: the module trapped in _initialize: unreachable",
		"version-2": "cannot be used: the module speaks version 2 of the WASM interface, this tunehost speaks " +
			"1: upgrade tunehost, or take a release of the plugin for version 1",
		"version-0": "cannot be used: the module speaks version 0 of the WASM interface, this tunehost speaks " +
			"1: upgrade the plugin",
		"no-export": `cannot be used: it does not export the function "tunehost_abi": it is not a tunehost ` +
			`plugin; it is a program with a _start function (in Go, build it with -buildmode=c-shared)`,
		"no-memory": `cannot be used: it does not export its memory as "memory"`,
		"signature": `cannot be used: its function "tunehost_invoke" is (i32, i32) → i32; it must be (i32, ` +
			`i32) → i64`,
		"import": `cannot be used: it imports "system" of "env", which tunehost does not have: there are log, ` +
			`report, saved, stopped of "tunehost_v1", and "wasi_snapshot_preview1"`,
		"import-type": `cannot be used: it imports "log" as (i64); it is (i32, i32, i32)`,
		"import-memory": `cannot be used: its import section: it imports the memory "memory" of "env"; only ` +
			`functions may be imported`,
		"import-wasi": `cannot be used: it imports "proc_exec" of "wasi_snapshot_preview1", which does not exist`,
		"table": "cannot be used: its table section: 100000000 table entries are more than the 1000000 " +
			"allowed",
		"memory": "cannot be used: its memory section: it begins with 4096 MiB of memory, but the limit is 256 " +
			"(sandbox.memory)",
		"nested":         "cannot be used: its code section: function 0: its blocks are nested more than 10000 deep",
		"killer-imports": "cannot be used: its import section: 4294967295 imports cannot be in the 6 bytes left",
		"killer-locals": "cannot be used: its code section: function 0: 4294967295 locals are more than the 50000 " +
			"allowed",
		"cut":       "cannot be used: a section is cut off: 127 bytes are announced, 2 are left",
		"component": "cannot be used: it is a WASM component; tunehost runs core modules",
		"alloc-zero": "cannot be used: the module returned address 0 from tunehost_alloc for 47 bytes; its " +
			"memory has 262144",
		"alloc-outside": "cannot be used: the module returned address 4294967288 from tunehost_alloc for 47 bytes; " +
			"its memory has 262144",
		"nosuch": "testdata/broken/nosuch.wasm: no such file or directory",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := sandboxtest.Process(t, broken(t, sdk.KindSearcher, name))
			if strings.HasPrefix(name, "loop") {
				c.StartTimeout = time.Second
			}
			p, err := process.Start(t.Context(), c)
			if err == nil {
				_ = p.Close()
			}
			says(t, err, plugin.NotStarted, `searcher "`+name+`" `, want)
		})
	}
}

// openBroken opens a searcher that answers everything but Suggest.
func openBroken(t *testing.T, name string, log func(process.Line)) (plugin.Searcher, *process.Process) {
	t.Helper()
	c := sandboxtest.Process(t, broken(t, sdk.KindSearcher, name))
	if log != nil {
		c.Log = log
	}
	p := sandboxtest.Run(t, c)
	s, err := p.OpenSearcher(t.Context(), problem(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

func problem() sdk.Problem {
	s := &space.Space{Params: []space.Param{{Name: "x", Kind: space.Real, Low: 0, High: 1}}}
	return sdk.Problem{Space: s, Objectives: []sdk.Objective{{Metric: "loss", Mode: sdk.Min}}}
}

var one = []sdk.Request{{Seed: 1}}

// The error of a failed call is one line; after a trap the module is not called again.
func TestBrokenCalls(t *testing.T) {
	const dead = "the module cannot be called any more: the module "
	for name, c := range map[string]struct {
		failure    plugin.Failure
		want, then string
	}{
		"recursion": {plugin.Failed, "failed in Suggest: the module trapped: stack overflow", dead},
		"trap": {plugin.Failed, "failed in Suggest: the module trapped: unreachable",
			dead + "trapped: unreachable"},
		"divide": {plugin.Failed, "failed in Suggest: the module trapped: integer divide by zero", dead},
		"grow":   {plugin.Failed, "failed in Suggest: 4096", "4096"}, // 256 MiB, and no page more
		"answer-outside": {plugin.Failed, "failed in Suggest: the module answered with 16 bytes at address " +
			"2147418112; its memory has 262144", dead},
		"answer-huge": {plugin.Failed, "failed in Suggest: the module answered with 4294967295 bytes at address " +
			"16; its memory has 262144", dead},
		"answer-wraps": {plugin.Failed, "failed in Suggest: the module answered with 32 bytes at address " +
			"4294967280; its memory has 262144", dead},
		"answer-empty": {plugin.Failed, "failed in Suggest: the module answered nothing, not even a status", dead},
		"answer-large": {plugin.Failed, "failed in Suggest: the module answered with 5242880 bytes, more than the " +
			"4194304 allowed", dead},
		"not-protobuf": {plugin.Failed, "failed in Suggest: ", "proto"},
		"status-200": {plugin.Failed, "failed in Suggest: the module answered with status 200, which does not " +
			"exist", "200"},
		"status-deadline": {plugin.Failed, "failed in Suggest: too late", "too late"},
		"reason":          {plugin.Failed, "failed in Suggest: one / two ", "one"},
		"log-outside": {plugin.Failed, "failed in Suggest: the module called log with 32 bytes at address " +
			"4294967280; its memory has 262144", dead},
		"report": {plugin.Failed, "failed in Suggest: the module called report outside of GuestTrain", dead},
		"exit":   {plugin.Failed, "failed in Suggest: the module exited with status 3", dead},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := openBroken(t, name, nil)
			_, err := s.Suggest(t.Context(), one)
			says(t, err, c.failure, `searcher "`+name+`" `, c.want)
			_, err = s.Suggest(t.Context(), one)
			says(t, err, c.failure, `searcher "`+name+`" `, c.then)
		})
	}
}

// The deadline ends an endless loop and its process.
func TestLoop(t *testing.T) {
	s, p := openBroken(t, "loop", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := s.Suggest(ctx, one)
	says(t, err, plugin.Hung, `searcher "loop" `, "did not answer Suggest within its deadline, and was killed")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	gone(t, p.PID())
}

// gone checks that a process has ended: Close returns then.
func gone(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is still there: %v", pid, err)
	}
}

// A module that takes more memory with each call gets no more than its limit.
func TestLeak(t *testing.T) {
	s, _ := openBroken(t, "leak", nil)
	for calls := range 300 {
		err := s.Observe(t.Context(), []sdk.Event{{Number: uint64(calls + 1)}})
		if err == nil {
			continue
		}
		says(t, err, plugin.Failed, `searcher "leak" `, "trapped: unreachable")
		if calls != 255 {
			t.Errorf("it had %d MiB and 256 KiB", calls)
		}
		return
	}
	t.Error("it had more than 300 MiB")
}

// A module that grows tables without end ends its own process, or gets no more.
func TestTableGrow(t *testing.T) {
	s, p := openBroken(t, "table-grow", nil)
	_, err := s.Suggest(t.Context(), one)
	if f := plugin.FailureOf(err); f != plugin.Crashed && f != plugin.Failed || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	_ = s.Close()
	gone(t, p.PID())
}

func TestLogs(t *testing.T) {
	for _, name := range []string{"log-flood", "log-giant"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			size, longest, dropped, began := 0, 0, false, time.Now()
			s, _ := openBroken(t, name, func(l process.Line) {
				mu.Lock()
				defer mu.Unlock()
				size, longest = size+len(l.Text), max(longest, len(l.Text))
				dropped = dropped || strings.Contains(l.Text, "lines dropped")
			})
			_, _ = s.Suggest(t.Context(), one)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if allowed := (2 + int(time.Since(began).Seconds())) << 20; size > allowed || longest > 65<<10 ||
				size == 0 {
				t.Errorf("%d bytes were logged, %d allowed; the longest line has %d", size, allowed, longest)
			}
			if name == "log-flood" && !dropped {
				t.Error("nothing was dropped of 30 MB")
			}
		})
	}
}

// trainBroken trains a broken module, answering its results, and returns the run's end.
func trainBroken(t *testing.T, name string) (end train.Event, saved []string) {
	t.Helper()
	d, err := sandboxtest.Start(t, broken(t, sdk.KindTrainable, name)).OpenTrainable(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	send := func(c train.Command) {
		c.Run = 1
		if err := d.Send([]train.Command{c}); err != nil {
			t.Fatal(err)
		}
	}
	send(train.Command{Kind: train.Start, Trial: &sdk.Trial{}})
	for {
		events, err := d.Recv()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			switch e.Kind {
			case train.Result:
				if name != "train-trap" {
					send(train.Command{Kind: train.Save, Dir: t.TempDir()})
				}
				send(train.Command{Kind: train.Continue, Credits: 1})
			case train.Saved:
				saved = append(saved, e.Error)
			case train.Ended:
				return e, saved
			}
		}
	}
}

func TestBrokenTraining(t *testing.T) {
	for name, want := range map[string]string{
		"train-saved-unasked":  "the module called saved without being asked to save",
		"train-garbage":        "the module reported an invalid message: proto",
		"train-outside":        "the module called report with 32 bytes at address 4294967288; its memory has 262144",
		"train-huge":           "the module called report with 2147483647 bytes, more than the 4194304 allowed",
		"train-trap":           "the module trapped: unreachable",
		"train-report-unsaved": "the module called report when saved was due",
		"train-no-state":       "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end, saved := trainBroken(t, name)
			if want == "" && end.Error != "" || !strings.Contains(end.Error, want) ||
				strings.Contains(end.Error, "\n") {
				t.Errorf("it ended with %q, want %q", end.Error, want)
			}
			for _, err := range saved {
				if err != "the module returned without handing over its state" {
					t.Errorf("saved: %q", err)
				}
			}
		})
	}
}

// A module that does not stop is ended with its process, like every trainable after its grace period.
func TestTrainingLoop(t *testing.T) {
	p := sandboxtest.Start(t, broken(t, sdk.KindTrainable, "train-loop"))
	d, err := p.OpenTrainable(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Send([]train.Command{{Kind: train.Start, Run: 1, Trial: &sdk.Trial{}}, {Kind: train.Stop, Run: 1},
		{Kind: train.Kill, Run: 1}}); err != nil {
		t.Fatal(err)
	}
	// The runner may freeze before it reports that the run has started: a module's loop cannot be
	// preempted, and the garbage collector waits for it.
	over := make(chan error)
	started := make(chan struct{}, 1)
	go func() {
		for {
			if _, err := d.Recv(); err != nil {
				over <- err
				return
			}
			select {
			case started <- struct{}{}:
			default:
			}
		}
	}()
	select {
	case <-started:
	case <-time.After(2 * time.Second):
	}
	d.Kill()
	err = <-over
	says(t, err, plugin.Crashed, `trainable "train-loop" `,
		"was killed by tunehost (one of its trials did not begin, answer or end in time) in Train")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	gone(t, p.PID())
}

// Every broken module is in a test.
func TestBrokenAreTested(t *testing.T) {
	source, err := os.ReadFile("broken_test.go")
	if err != nil {
		t.Fatal(err)
	}
	modules, err := filepath.Glob("testdata/broken/*.wasm")
	if err != nil || len(modules) < 40 {
		t.Fatal(modules, err)
	}
	for _, m := range modules {
		name := strings.TrimSuffix(filepath.Base(m), ".wasm")
		if !strings.Contains(string(source), `"`+name+`"`) {
			t.Errorf("%s is in no test", m)
		}
	}
}

// The host keeps no goroutine of a closed plugin.
func TestNoGoroutinesLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, name := range []string{"trap", "exit", "grow"} {
		s, _ := openBroken(t, name, nil)
		_, _ = s.Suggest(t.Context(), one)
		_ = s.Close()
	}
	for deadline := time.Now().Add(2 * time.Minute); runtime.NumGoroutine() > before+1; runtime.Gosched() {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before,
				stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func startFails(t *testing.T, c process.Config, want string) {
	t.Helper()
	p, err := process.Start(t.Context(), c)
	if err == nil {
		_ = p.Close()
	}
	says(t, err, plugin.NotStarted, string(c.Kind)+" ", want)
}
