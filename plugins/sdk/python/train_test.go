package python_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/serve/forks"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// ways are the ways in which trials run: in forks, with the host's program as their server or with one in Python, and
// in the process that serves.
var ways = map[string]struct{ args, env []string }{
	"forked":                      {},
	"forked, with gRPC of theirs": {env: []string{forks.Variable + "="}},
	"unforked":                    {args: []string{"--unforked", "--reusable"}},
}

// eachWay runs a test in each way, with an open probe.
func eachWay(t *testing.T, test func(t *testing.T, d *driver)) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			c := config(t, sdk.KindTrainable, probe)
			c.Args, c.Env = append(c.Args, way.args...), append(c.Env, way.env...)
			test(t, newDriver(t, c, ""))
		})
	}
}

func TestTrainTraits(t *testing.T) {
	eachWay(t, func(t *testing.T, d *driver) {
		want := sdk.TrainableTraits{Reusable: true, Shared: !strings.HasSuffix(t.Name(), "/unforked"), Saves: true,
			Requests: true}
		if got := d.trainer.Traits(); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
	p := start(t, config(t, sdk.KindTrainable, probe))
	_, err := p.OpenTrainable(t.Context(), []byte(do("refuse")))
	wants(t, err, plugin.Refused, "refused: no such data set")
}

// Without credits each result is answered before the next (B-009).
func TestTrainCredits(t *testing.T) {
	eachWay(t, func(t *testing.T, d *driver) {
		d.start(1, `{"n": 3}`, sdk.Trial{})
		for i := 1; i <= 3; i++ {
			if e := d.want(train.Result, ""); metric(e, "loss") != 1/float64(i) || e.Done != (i == 3) {
				t.Fatalf("%+v", e)
			}
			if i < 3 {
				d.continues(1)
			}
		}
		d.want(train.Ended, "")

		d.start(2, `{"n": 9}`, sdk.Trial{RunAhead: 2})
		for range 3 { // two ahead, and the one that waits
			d.want(train.Result, "")
		}
		d.send(train.Command{Kind: train.Stop, Run: 2})
		d.want(train.Ended, "")
	})
}

// A due checkpoint stops running ahead; exactly that result is saved (B-009, B-050).
func TestTrainSaves(t *testing.T) {
	eachWay(t, func(t *testing.T, d *driver) {
		d.start(1, `{"n": 6}`, sdk.Trial{RunAhead: 5, CheckpointEvery: 2, CheckpointAtEnd: true})
		for i := 2; i <= 6; i += 2 {
			d.want(train.Result, "")
			d.want(train.Result, "")
			dir := t.TempDir()
			d.send(train.Command{Kind: train.Save, Run: 1, Dir: dir})
			if e := d.want(train.Saved, fmt.Sprint("iteration ", i)); e.Checkpoint != dir {
				t.Fatalf("%+v", e)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "model")); string(b) != "weights" {
				t.Fatal(err)
			}
			if i < 6 {
				d.send(train.Command{Kind: train.Continue, Run: 1, Credits: 2})
			}
		}
		d.want(train.Ended, "")

		for run, c := range []struct{ do, says string }{{"fail to save", "OSError: disk full"},
			{"cannot save", "iteration 1 was reported without save="}} {
			run := uint64(run) + 2
			d.start(run, fmt.Sprintf(`{"n": 3, "do": %q}`, c.do), sdk.Trial{})
			d.want(train.Result, "")
			d.send(train.Command{Kind: train.Save, Run: run, Dir: t.TempDir()})
			d.want(train.Saved, c.says)
			d.send(train.Command{Kind: train.Stop, Run: run})
			d.want(train.Ended, "")
		}
	})
}

// B-132: the SIGTERM that an engine sends to all processes of a job ends neither a plugin nor the trials in it. Trials
// stop when the host says so.
func TestTrainLivesOn(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			c := config(t, sdk.KindTrainable, probe)
			c.Args, c.Env = append(append(c.Args, "--signals"), way.args...), append(c.Env, way.env...)
			p := start(t, c)
			trainer, err := p.OpenTrainable(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			d := &driver{t: t, trainer: trainer}
			started := d.start(1, `{"n": 9}`, sdk.Trial{})
			d.want(train.Result, "")
			testplace.LivesOn(t, p.PID())
			if pid := int(started.PID); pid != p.PID() {
				testplace.LivesOn(t, pid)
			}
			d.continues(1)
			d.want(train.Result, "")
			d.send(train.Command{Kind: train.Stop, Run: 1, Dir: t.TempDir()})
			d.want(train.Saved, "iteration 2")
			d.want(train.Ended, "")
		})
	}
}

func TestTrainStops(t *testing.T) {
	eachWay(t, func(t *testing.T, d *driver) {
		d.start(1, `{"n": 9}`, sdk.Trial{}) // saved first
		d.want(train.Result, "")
		d.send(train.Command{Kind: train.Stop, Run: 1, Dir: t.TempDir()})
		d.want(train.Saved, "iteration 1")
		d.want(train.Ended, "")

		d.start(2, do("until stopped"), sdk.Trial{}) // between reports
		d.send(train.Command{Kind: train.Stop, Run: 2})
		d.want(train.Ended, "")

		d.start(3, do("swallow"), sdk.Trial{}) // whatever the author catches
		d.want(train.Result, "")
		d.send(train.Command{Kind: train.Stop, Run: 3})
		for {
			if e := d.next(); e.Kind == train.Ended {
				if e.Error != "" {
					t.Fatalf("%+v", e)
				}
				break
			}
		}
	})
}

func TestTrainFails(t *testing.T) {
	eachWay(t, func(t *testing.T, d *driver) {
		for run, c := range []struct{ do, says string }{
			{"raise", "ValueError: the loss is NaN (testdata/probe.py:"}, {"sys exit", "that was that"},
			{"cannot restore", "bad magic"}, {"not numbers", "loss is 'small', which is not a number"},
			{"count too far", "ValueError: iteration is 1180591620717411303424: expected a whole number from 1"},
			{"nowhere", "UnicodeEncodeError: "},
		} {
			d.start(uint64(run), do(c.do), sdk.Trial{})
			if e := d.want(train.Ended, c.says); e.RestoreFailed != (c.do == "cannot restore") {
				t.Errorf("%+v", e)
			}
		}
	})
}

func TestTrainUnforked(t *testing.T) {
	c := config(t, sdk.KindTrainable, probe)
	c.Args = append(c.Args, "--unforked")
	once := newDriver(t, c, "")
	once.start(1, `{"n": 9}`, sdk.Trial{})
	once.want(train.Result, "")
	refused := func(run uint64, says string) {
		once.send(train.Command{Kind: train.Start, Run: run, Trial: &sdk.Trial{Params: []byte("{}")}})
		if e := once.want(train.Ended, says); !e.NeverStarted {
			t.Errorf("%+v", e)
		}
	}
	refused(2, "the process already runs a trial")
	once.send(train.Command{Kind: train.Kill, Run: 1})
	once.want(train.Ended, "")
	refused(3, "the process has run a trial")
	c.Args = append(c.Args, "--shared")
	shares(t, newDriver(t, c, ""))
}

// Trials of a program that forks run in parallel (B-110).
func TestTrainShared(t *testing.T) { shares(t, newDriver(t, config(t, sdk.KindTrainable, probe), "")) }

func shares(t *testing.T, d *driver) {
	t.Helper()
	const runs = 5
	for run := range uint64(runs) {
		d.send(train.Command{Kind: train.Start, Run: run,
			Trial: &sdk.Trial{Params: []byte(`{"n": 20}`), Dir: t.TempDir()}})
	}
	results := [runs]int{}
	for ended := 0; ended < runs; {
		switch e := d.next(); e.Kind {
		case train.Result:
			results[e.Run]++
			d.continues(e.Run)
		case train.Ended:
			ended++
		}
	}
	if results != [runs]int{20, 20, 20, 20, 20} {
		t.Fatal(results)
	}
}

func TestTrainRequests(t *testing.T) {
	eachWay(t, func(t *testing.T, d *driver) {
		d.start(1, do("until stopped"), sdk.Trial{}) // also while a trial trains
		got, err := d.trainer.Request(t.Context(), []byte(`{"do": "", "n": 3}`))
		if err != nil || string(got) != `{"cpu": 3}` {
			t.Fatalf("%s, %v", got, err)
		}
		if _, err := d.trainer.Request(t.Context(), []byte(do("raise"))); err == nil ||
			!strings.Contains(err.Error(), "Request: RuntimeError: no luck") {
			t.Fatal(err)
		}
	})
}

// Each trial has a process, its own output, and its own resources.
func TestForkFacts(t *testing.T) {
	d := newDriver(t, config(t, sdk.KindTrainable, probe), "")
	var first struct{ Random float64 }
	for run := range uint64(3) {
		dir := t.TempDir()
		started := d.start(run, do("facts"), sdk.Trial{Dir: dir, Seed: run / 2, Devices: []string{"GPU-1", "3"}[:run],
			Bundles: []sdk.Bundle{{Node: "a", Resources: []byte(`{"cpu": "2"}`), Devices: []string{"3"}},
				{Node: "b", Resources: []byte(`{"cpu": "1"}`)}}})
		d.want(train.Ended, "")
		out, err := os.ReadFile(filepath.Join(dir, "stdout"))
		text, found := strings.CutPrefix(string(out), "to stdout\n")
		if err != nil || !found {
			t.Fatalf("%q, %v", out, err)
		}
		var facts struct {
			GPUs, Data string
			Random     float64
			PID        uint32
			Plugin     *string
			GRPC       bool
			Threads    int
			Bundles    [][]string
		}
		if err := json.Unmarshal([]byte(text), &facts); err != nil {
			t.Fatal(err)
		}
		if facts.Data != "loaded" || facts.GPUs != []string{"", "GPU-1", "GPU-1,3"}[run] || facts.PID != started.PID ||
			facts.Plugin != nil || facts.GRPC || facts.Threads != 1 {
			t.Errorf("%+v", facts)
		}
		if got := fmt.Sprint(facts.Bundles); got != "[[a 2 3] [b 1]]" {
			t.Errorf("its bundles are %s", got)
		}
		if run == 0 {
			first.Random = facts.Random
		}
		if (facts.Random == first.Random) != (run < 2) {
			t.Errorf("run %d has the random number %v, the first %v", run, facts.Random, first.Random)
		}
		errs, err := os.ReadFile(filepath.Join(dir, "stderr"))
		if err != nil || !strings.HasPrefix(string(errs), "to stderr\n") ||
			!strings.Contains(string(errs), "INFO mine: logged\n") {
			t.Errorf("%q, %v", errs, err)
		}
	}
}

// When a trial crashes, only this trial fails (B-070). The author's own line is near the end, also of a crash in a
// library of C.
func TestForkCrash(t *testing.T) {
	d := newDriver(t, config(t, sdk.KindTrainable, probe), "")
	d.start(1, do("until stopped"), sdk.Trial{})
	for run, c := range map[uint64]struct{ do, says string }{
		2: {"exit", "its process exited with status 3 before the trial had ended\nits stderr is in "},
		3: {"segfault", "its process was ended by signal 11 (SIGSEGV)\nits stderr is in "},
	} {
		d.start(run, do(c.do), sdk.Trial{})
		e := d.want(train.Ended, c.says)
		if word := map[string]string{"exit": "last words", "segfault": "in do_segfault\n  File "}[c.do]; e.Run != run ||
			!strings.Contains(e.Error, word) || c.do == "segfault" && !strings.HasSuffix(e.Error, " in string_at") {
			t.Errorf("%+v", e)
		}
	}
	d.send(train.Command{Kind: train.Stop, Run: 1})
	if e := d.want(train.Ended, ""); e.Run != 1 {
		t.Errorf("%+v", e)
	}
}

// KILL ends one trial and all processes that it has started, and nothing else.
func TestForkKill(t *testing.T) {
	d := newDriver(t, config(t, sdk.KindTrainable, probe), "")
	other := d.start(1, do("until stopped"), sdk.Trial{})
	dir := t.TempDir()
	started := d.start(2, do("hang"), sdk.Trial{Dir: dir})
	d.want(train.Result, "")
	eventually(t, "the grandchild", func() bool { return len(pids(t, dir, "sleeping")) == 1 })
	family := append(pids(t, dir, "pids"), pids(t, dir, "sleeping")...)
	d.send(train.Command{Kind: train.Kill, Run: 2})
	if e := d.want(train.Ended, ""); e.Run != 2 {
		t.Fatalf("%+v", e)
	}
	for _, pid := range append(family, int(started.PID)) { // before the end of the run is reported
		if alive(pid) {
			t.Errorf("process %d of %v still runs", pid, family)
		}
	}
	if !alive(int(other.PID)) {
		t.Error("the other trial is gone")
	}
}

// Processes that a trial leaves behind are killed with it.
func TestForkLeftovers(t *testing.T) {
	d := newDriver(t, config(t, sdk.KindTrainable, probe), "")
	dir := t.TempDir()
	d.start(1, do("leave a child"), sdk.Trial{Dir: dir})
	d.want(train.Ended, "")
	if pid := pids(t, dir, "pids")[0]; alive(pid) {
		t.Errorf("process %d still runs", pid)
	}
}

// pids reads process ids from a file; none if it does not exist.
func pids(t *testing.T, dir, name string) (list []int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, word := range strings.Fields(string(b)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pid)
	}
	return list
}

func TestTrainCloses(t *testing.T) {
	eachWay(t, func(t *testing.T, d *driver) {
		e := d.start(1, do("until stopped"), sdk.Trial{})
		received := make(chan error)
		go func() {
			for {
				if _, err := d.trainer.Recv(); err != nil {
					received <- err
					return
				}
			}
		}()
		if err := d.trainer.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-received; !errors.Is(err, io.EOF) || alive(int(e.PID)) {
			t.Fatal(err, alive(int(e.PID)))
		}
	})
}

// TestMain can also run the test binary as a host that the test kills.
func TestMain(m *testing.M) {
	if os.Getenv("BE_HOST") != "" {
		beHost()
		return
	}
	if len(os.Args) > 1 && os.Args[1] == forks.Command {
		os.Exit(forks.Main(os.Args[2:]))
	}
	process.ServesForks("/proc/" + strconv.Itoa(os.Getpid()) + "/exe")
	status := m.Run()
	for _, clean := range cleanups {
		clean()
	}
	os.Exit(status)
}

// cleanups remove what several tests share.
var cleanups []func()

// orphaned is the configuration for a host that the test kills.
type orphaned struct {
	Path      string
	Args, Env []string
	Outlives  bool
	Dir       string
}

// beHost starts a plugin and a trial, reports them, and waits.
func beHost() {
	var o orphaned
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		panic(err)
	}
	c := process.Config{Program: process.Program{Kind: sdk.KindTrainable, Name: "probe", Path: o.Path, Args: o.Args,
		Env: o.Env, Outlives: o.Outlives}}
	ctx := context.Background()
	p, err := process.Start(ctx, c)
	if err != nil {
		panic(err)
	}
	t, err := p.OpenTrainable(ctx, nil)
	if err != nil {
		panic(err)
	}
	_ = t.Send([]train.Command{{Kind: train.Start, Trial: &sdk.Trial{Params: []byte(do("hang")), Dir: o.Dir}}})
	for {
		events, err := t.Recv()
		if err != nil {
			panic(err)
		}
		for _, e := range events {
			if e.Kind == train.Started {
				fmt.Println(p.PID(), e.PID)
			}
		}
	}
}

// No process of a plugin outlives the host, for whatever reason the host ends (B-025). If the
// kernel kills the plugin first, the reaper kills the processes of trials; here the plugin is not
// killed with its host.
func TestOrphans(t *testing.T) {
	for _, outlives := range []bool{false, true} {
		c := config(t, sdk.KindTrainable, probe)
		dir := t.TempDir()
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		host := exec.Command(self)
		host.Env = append(os.Environ(), "BE_HOST=1")
		settings, err := json.Marshal(orphaned{c.Path, c.Args, c.Env, outlives, dir})
		if err != nil {
			t.Fatal(err)
		}
		host.Stdin = bytes.NewReader(settings)
		host.Stderr = os.Stderr
		out, err := host.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := host.Start(); err != nil {
			t.Fatal(err)
		}
		var pluginPID, trialPID int
		if _, err := fmt.Fscan(bufio.NewReader(out), &pluginPID, &trialPID); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the trial's children", func() bool {
			return len(pids(t, dir, "pids")) == 2 &&
				len(pids(t, dir, "sleeping")) == 1
		})
		family := []int{pluginPID, trialPID}
		if outlives {
			family = append(append(family, pids(t, dir, "pids")...), pids(t, dir, "sleeping")...)
		} else {
			t.Cleanup(func() {
				for _, pid := range append(pids(t, dir, "pids"), pids(t, dir, "sleeping")...) {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			})
		}
		if err := host.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = host.Wait()
		for _, pid := range family {
			eventually(t, fmt.Sprintf("the end of %d of %v", pid, family), func() bool { return !alive(pid) })
		}
	}
}
