package hosttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/internal/toolchain"
	"github.com/tunehost/tunehost/plugins/executors/fake"
	"github.com/tunehost/tunehost/plugins/schedulers/asha"
	"github.com/tunehost/tunehost/plugins/schedulers/fifo"
	"github.com/tunehost/tunehost/plugins/schedulers/hyperband"
	"github.com/tunehost/tunehost/plugins/schedulers/median"
	"github.com/tunehost/tunehost/plugins/schedulers/pbt"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/channel"
	"github.com/tunehost/tunehost/plugins/sdk/samples/reporter/lines"
	"github.com/tunehost/tunehost/plugins/searchers/auto"
	"github.com/tunehost/tunehost/plugins/searchers/grid"
	"github.com/tunehost/tunehost/plugins/searchers/random"
	"github.com/tunehost/tunehost/plugins/searchers/sobol"
	"github.com/tunehost/tunehost/plugins/searchers/tpe"
	"github.com/tunehost/tunehost/plugins/trainables/chaos"
	"github.com/tunehost/tunehost/plugins/trainables/command"
	"github.com/tunehost/tunehost/plugins/trainables/digits"
)

var plugged = bundled.New(auto.Plugin, random.Plugin, grid.Plugin, sobol.Plugin, tpe.Plugin, fifo.Plugin, asha.Plugin,
	hyperband.Plugin, median.Plugin,
	pbt.Plugin, forgetful, chaos.Plugin, digits.Plugin, command.Plugin(), lines.Plugin, torn,
	rogueSearcher, rogueScheduler, outside, telltale, fickle, moody, grower, gated, stray, fake.Plugin,
	nodes)

// forgetful is a scheduler that pauses every trial and wakes none.
var forgetful = sdk.SchedulerPlugin{
	Info: sdk.Info{Name: "forgetful", Version: "1.0.0", Summary: "Pauses every trial.",
		Options: []byte(`{"type": "object"}`)},
	Open: func(sdk.Problem, []byte) (sdk.Scheduler, sdk.Traits, error) { return pausing{}, sdk.Traits{}, nil },
}

type pausing struct{}

func (pausing) Decide(_ context.Context, events []sdk.Event) (out sdk.Decisions, err error) {
	for _, e := range events {
		if e.Kind == sdk.ResultReported {
			out.Decisions = append(out.Decisions, sdk.Decision{Event: e.Number, Verdict: sdk.Pause, Reason: "not now"})
		}
	}
	return out, nil
}

const hostVariable = "HOSTTEST_OPTIONS"

// TestMain lets the test binary be a plugin, a reaper, and a host to be killed.
func TestMain(m *testing.M) {
	if handled, exit := plugged.Main(os.Args[1:]); handled {
		os.Exit(exit)
	}
	if len(os.Args) == 4 && os.Args[1] == "report-client" {
		reportClient(os.Args[2], os.Args[3])
	}
	if text, ok := os.LookupEnv(hostVariable); ok {
		os.Exit(runHost(text))
	}
	os.Exit(m.Run())
}

// reportClient is what `tunehost report NAME=VALUE` does.
func reportClient(name, text string) {
	var v float64
	_, err := fmt.Sscan(text, &v)
	if err == nil {
		var d channel.Decision
		d, err = channel.Report(os.Getenv("TUNEHOST_CHANNEL"), map[string]float64{name: v}, 0, "")
		fmt.Println(d)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// settings are what a host's process is told.
type settings struct {
	File, Storage, Resources, Resume string
	Sets                             []string
	CallTimeout                      time.Duration
	// Alone: other tests' experiments do not run at the same time.
	Alone bool
}

// Exit statuses of a host's process.
const (
	exitErrored     = 1
	exitUser        = 2
	exitFailed      = 3
	exitInterrupted = 130
	exitAborted     = 131
)

// runHost is a program that runs an experiment as a command would: one signal
// interrupts it, the second leaves at once.
func runHost(text string) int {
	var s settings
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		host.Abort()
		os.Exit(exitAborted)
	}()
	ended, err := host.Run(ctx, host.File(s.File), host.Options{Storage: s.Storage, Resources: s.Resources,
		Resume: s.Resume, Sets: s.Sets, CallTimeout: s.CallTimeout, Plugins: plugged, Share: !s.Alone,
		Output: host.Output{Stdout: os.Stdout, Stderr: os.Stderr, Verbose: 1}})
	var user *host.UserError
	switch {
	case errors.As(err, &user):
		fmt.Fprintln(os.Stderr, err)
		return exitUser
	case err != nil || ended.Outcome == core.Failed:
		fmt.Fprintln(os.Stderr, err, ended.Reason)
		return exitFailed
	case ended.Outcome == core.InterruptedByUser:
		return exitInterrupted
	case ended.Errored > 0:
		return exitErrored
	}
	return 0
}

// trials lists their directories.
func (x *experiment) trials(t testing.TB) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(x.dir, "trials", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// experiment is one to be run by host processes.
type experiment struct {
	settings
	dir string // of the experiment
}

// write makes an experiment file, and scripts beside it. Whatever a test did to
// it, nothing of it may be left running.
func write(t testing.TB, yaml string, scripts map[string]string) *experiment {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	x := &experiment{settings: settings{File: filepath.Join(root, "test.yaml"), Storage: filepath.Join(root, "results"),
		Resources: "cpu=3"}}
	x.dir = filepath.Join(x.Storage, "test")
	put(t, x.File, yaml)
	for name, text := range scripts {
		for _, program := range []string{"setsid", "pgrep"} {
			if strings.Contains(text, program) {
				toolchain.Programs(t, program)
			}
		}
		put(t, filepath.Join(root, name), text)
	}
	t.Cleanup(func() { hosttest.CheckNoOrphans(t, root) })
	return x
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.TrimLeft(text, "\n")), 0o700); err != nil {
		t.Fatal(err)
	}
}

// patience is for what comes to its end by itself, on a machine that is busy.
const patience = 5 * time.Minute

// process is a host that runs.
type process struct {
	cmd  *exec.Cmd
	out  testplace.Screen
	exit chan int
}

// start starts a host on the experiment.
func (x *experiment) start(t testing.TB, env ...string) *process {
	t.Helper()
	text, err := json.Marshal(x.settings)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command("/proc/self/exe"), exit: make(chan int, 1)}
	p.cmd.Env = append(append(os.Environ(), hostVariable+"="+string(text)), env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		p.exit <- p.cmd.ProcessState.ExitCode()
	}()
	return p
}

// ends waits for the host to end by itself.
func (p *process) ends(t testing.TB, want int) string {
	t.Helper()
	if got := <-p.exit; got != want {
		t.Fatalf("the host ended with status %d, not %d:\n%s", got, want, p.out.String())
	}
	return p.out.String()
}

func (p *process) signal(t testing.TB, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Log(err) // it has ended
	}
}

// kill kills the host, and waits until it is gone.
func (p *process) kill(t testing.TB) {
	t.Helper()
	p.signal(t, syscall.SIGKILL)
	<-p.exit
}

// run is a host from start to end.
func (x *experiment) run(t testing.TB, want int, sets ...string) string {
	t.Helper()
	y := *x
	y.Sets = append(slices.Clip(y.Sets), sets...)
	return y.start(t).ends(t, want)
}
