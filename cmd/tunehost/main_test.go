package main

import (
	"fmt"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tunehost/tunehost/host/storage/mirror"
)

func TestMain(m *testing.M) {
	if handled, exit := started(os.Args[1:]); handled {
		os.Exit(exit)
	}
	testscript.Main(m, programs)
}

// programs are those that scripts can execute.
var programs = map[string]func(){
	"tunehost": main,
	"fixture":  func() { fixture(os.Args[1:]) },
	"pick":     pick,
}

// Each script is one command, or one mistake that a user can make.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error { // scripts run in parallel, each as a separate user
			runtime, err := os.MkdirTemp("/tmp", "rt-") // its path is short
			e.Setenv("XDG_RUNTIME_DIR", runtime)
			e.Defer(func() { _ = os.RemoveAll(runtime) })
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"waitfor": waitFor,
			"waitrunning": waitRunning},
		Condition: condition,
	})
}

// condition reports whether the program has a client that it has only with a build tag.
func condition(name string) (bool, error) {
	if name != "s3" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return mirror.HasClient(name), nil
}

// waitRunning waits until the record of an experiment has trials that run: `waitrunning DIR N`. A
// program that has written its first file may run before its start is recorded.
func waitRunning(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waitrunning DIR N")
	}
	want := regexp.MustCompile(`(?m)^trials .*\b` + args[1] + ` RUNNING\b`)
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if ts.Exec("tunehost", "status", args[0]) == nil && want.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s: %s trials never run", args[0], args[1])
		}
	}
}

// waitFor waits until files exist: `waitfor FILE...`.
func waitFor(ts *testscript.TestScript, neg bool, files []string) {
	if neg || len(files) == 0 {
		ts.Fatalf("usage: waitfor FILE...")
	}
	for _, f := range files {
		for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat(ts.MkAbs(f)); err == nil {
				break
			}
			if time.Now().After(deadline) {
				ts.Fatalf("%s does not come", f)
			}
		}
	}
}
