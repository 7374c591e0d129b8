//go:build unix

package chaos

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk/sdktest"
)

// paramsVariable makes the test binary a process that trains with its value.
const paramsVariable = "CHAOS_TEST_PARAMS"

func TestMain(m *testing.M) {
	if os.Getenv(paramsVariable) == "" {
		os.Exit(m.Run())
	}
	os.Args = []string{os.Args[0], "-test.run=^TestInAProcess$"}
	os.Exit(m.Run())
}

// TestInAProcess runs in the processes of TestReallyCrashes.
func TestInAProcess(t *testing.T) {
	params := os.Getenv(paramsVariable)
	if params == "" {
		t.Skip("run by TestReallyCrashes")
	}
	trainable, traits := sdktest.Open(t, Plugin, `{}`)
	_ = trainable.Train(context.Background(), sdktest.NewRun(t, traits, params))
}

// B-070: the host's view of a crash.
func TestReallyCrashes(t *testing.T) {
	for params, want := range map[string]struct{ status, stderr string }{
		`{"crash_at": 1, "exit_code": 7}`:             {"exit status 7", ""},
		`{"crash_at": 1, "crash": "kill"}`:            {"signal: killed", ""},
		`{"crash_at": 1, "crash": "panic_elsewhere"}`: {"exit status 2", "panic: chaos: crash_at 1 in attempt 1"},
	} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), paramsVariable+"="+params)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		err := cmd.Run()
		if err == nil || err.Error() != want.status || !strings.Contains(stderr.String(), want.stderr) {
			t.Errorf("%s: %v, stderr %q; want %q, %q", params, err, stderr.String(), want.status, want.stderr)
		}
	}
}

// B-025
func TestChildrenLiveOn(t *testing.T) {
	for _, detached := range []bool{false, true} {
		pid, err := spawn(detached)
		if errors.Is(err, exec.ErrNotFound) {
			t.Skip("there is no sleep")
		}
		if err != nil {
			t.Fatal(err)
		}
		group, err := syscall.Getpgid(pid)
		if err != nil || (group == pid) != detached {
			t.Errorf("detached %v: process %d is in group %d, error %v", detached, pid, group, err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
}
