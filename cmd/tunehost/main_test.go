package main

import (
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	if handled, exit := plugins.Main(os.Args[1:]); handled {
		os.Exit(exit)
	}
	testscript.Main(m, map[string]func(){
		"tunehost": main,
		"fixture":  func() { fixture(os.Args[1:]) },
		"pick":     pick,
	})
}

// Each script is one command, or one mistake that a user can make.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error { // scripts run side by side, as users of their own
			runtime, err := os.MkdirTemp("/tmp", "rt-") // its path is short
			e.Setenv("XDG_RUNTIME_DIR", runtime)
			e.Defer(func() { _ = os.RemoveAll(runtime) })
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"waitfor": waitFor},
	})
}

// waitFor waits until files are there: `waitfor FILE...`.
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
