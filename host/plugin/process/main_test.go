package process_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/internal/suite"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/samples/reporter/lines"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

var registry = bundled.New(suite.Plugins()...)

// TestMain makes the test binary its own plugins, good and bad.
func TestMain(m *testing.M) {
	if handled, exit := registry.Main(os.Args[1:]); handled {
		os.Exit(exit)
	}
	if len(os.Args) > 1 {
		if bad := programs[os.Args[1]]; bad != nil {
			bad()
			os.Exit(0)
		}
	}
	// The race detector delays the end of each process by a second.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// programs are plugins that break the rules, before or beside the protocol.
var programs = map[string]func(){
	"bad-garbage": func() { fmt.Println("hello world") },
	"bad-killed": func() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		hang()
	},
	"bad-closed": func() {
		_ = os.Stdout.Close()
		hang()
	},
	"bad-exit": func() {
		fmt.Fprintln(os.Stderr, "no module named numpy")
		os.Exit(7)
	},
	"bad-threads": func() {
		fmt.Fprint(os.Stderr, "runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: "+
			"abort\nrax 0x0\n")
		os.Exit(2)
	},
	"bad-silent": hang,
	"bad-long":   func() { fmt.Print(strings.Repeat("x", 10<<20)); hang() },
	"bad-endless": func() { // a handshake line without end
		for line := strings.Repeat("x", 1<<20); ; {
			fmt.Print(line)
		}
	},
	"bad-newer":  func() { fmt.Println("1|2|unix|/tmp/x|grpc|"); hang() },
	"bad-older":  func() { fmt.Println("1|0|unix|/tmp/x|grpc|"); hang() },
	"bad-netrpc": func() { fmt.Println("1|1|unix|/tmp/x|netrpc|"); hang() },
	"bad-tcp":    func() { fmt.Println("1|1|tcp|127.0.0.1:1|grpc|"); hang() },
	"bad-base64": func() { fmt.Println("1|1|unix|/tmp/x|grpc|!!!notbase64"); hang() },
	"bad-nocert": func() { fmt.Println("1|1|unix|/tmp/x|grpc"); hang() },
	"bad-cert": func() {
		fmt.Printf("1|1|unix|%s/x|grpc|%s\n", os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), strings.Repeat("A", 99))
		hang()
	},
	"bad-address":  otherAddress,
	"bad-shutdown": func() { serveAnd(hang) },
	"slow-end": func() {
		serveAnd(func() {
			time.Sleep(2500 * time.Millisecond)
			_ = os.WriteFile(os.Getenv("SAVED"), nil, 0o600)
		})
	},
	"bad-stderr": func() {
		fmt.Fprintln(os.Stderr, `{"@message": 5}`)
		fmt.Fprintln(os.Stderr, `{"@message":"hello","@level":"warn","@timestamp":7,"n":3}`)
		fmt.Fprintln(os.Stderr, "red \x1b[31malert\x00 \xff")
		fmt.Fprintln(os.Stderr, strings.Repeat("y", 10<<20))
		registry.Main([]string{"plugin-serve", "searcher", "probe"})
	},
	"bad-flood": func() {
		go func() {
			w := bufio.NewWriter(os.Stderr)
			for range 100_000 {
				fmt.Fprintln(w, strings.Repeat("z", 100))
			}
			_ = w.Flush()
			_ = os.WriteFile(os.Getenv("FLOODED"), nil, 0o600)
		}()
		registry.Main([]string{"plugin-serve", "searcher", "probe"})
	},
	"bad-env": func() {
		fmt.Fprintln(os.Stderr, "ENV", strings.Join(os.Environ(), " "))
		n, err := os.Stdin.Read(make([]byte, 1))
		fmt.Fprintln(os.Stderr, "STDIN", n, err)
		registry.Main([]string{"plugin-serve", "searcher", "probe"})
	},
	"bad-host": host,
	"talker":   talk,
	"lines":    func() { serve.Reporter(lines.Plugin) },
}

// serveAnd serves a trainable whose process ignores the request to end.
func serveAnd(after func()) {
	serve.Run(serve.Set{Trainable: &suite.Trainable})
	after()
}

// hang waits to be killed. The runtime ends a program of which all goroutines wait for each other.
func hang() { time.Sleep(24 * time.Hour) }

// self runs the test binary as a program of the table above.
func self(t testing.TB, kind sdk.Kind, program string) process.Config {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return process.Config{Program: process.Program{Kind: kind, Name: program, Path: path, Args: []string{program},
		Inherit: []string{"GORACE"}}, Log: func(l process.Line) { logged(t, l) }}
}

func logged(t testing.TB, l process.Line) {
	if len(l.Text) > 200 {
		l.Text = l.Text[:200]
	}
	t.Logf("%s %s %s", l.Stream, l.Level, l.Text)
}

func start(t testing.TB, kind sdk.Kind) plugin.Plugin {
	c, ok := registry.Config(kind, "probe")
	if !ok {
		t.Fatal("no such plugin")
	}
	c.Inherit = []string{"GORACE"}
	return startConfig(t, c)
}

func startConfig(t testing.TB, c process.Config) *process.Process {
	t.Helper()
	p, err := process.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// eventually waits for a state that no channel announces: the end of another process.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("%s did not happen", what)
}

// talk serves a trainable that prints which trial it is.
func talk() {
	serve.Run(serve.Set{Trainable: &sdk.TrainablePlugin{
		Info: sdk.Info{Name: "talker", Version: "1", Summary: "Prints who it is.",
			Options: []byte(`{"type": "object"}`)},
		Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			return sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
				if strings.HasPrefix(run.Trial().ID, "quiet") {
					return nil
				}
				serve.Logger().Info("logged")
				fmt.Println("out", run.Trial().ID)
				if strings.HasPrefix(run.Trial().ID, "brief") {
					return nil
				}
				fmt.Fprintln(os.Stderr, "err", run.Trial().ID)
				child := exec.Command("echo", "child", run.Trial().ID)
				child.Stdout = os.Stdout
				return child.Run()
			}), sdk.TrainableTraits{Reusable: true}, nil
		},
	}})
}
