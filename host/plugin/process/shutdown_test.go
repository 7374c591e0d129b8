package process_test

import (
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
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/internal/suite"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// A plugin that hangs at its end is killed with its group.
func TestHangingShutdown(t *testing.T) {
	c := self(t, sdk.KindTrainable, "bad-shutdown")
	c.CloseGrace = 100 * time.Millisecond
	p := startConfig(t, c)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if alive(p.PID()) {
		t.Fatal("it still runs")
	}
}

// A searcher or scheduler whose caller has left is not killed: it is closed in order, and can save what it has.
func TestCallerLeaves(t *testing.T) {
	c, _ := registry.Config(sdk.KindSearcher, "probe")
	c.CloseGrace = 50 * time.Millisecond
	s, err := startConfig(t, c).OpenSearcher(t.Context(), suite.Problem(), suite.Do("hang"), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, leave)
	if _, err = s.Suggest(ctx, make([]sdk.Request, 1)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err = s.Suggest(ctx, make([]sdk.Request, 1)); plugin.FailureOf(err) != plugin.Hung {
		t.Errorf("it does not run any more: %v", err)
	}
}

// A plugin has the whole grace period to save what it has: go-plugin would kill it after two seconds.
func TestSlowShutdown(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "saved")
	c := self(t, sdk.KindTrainable, "slow-end")
	c.Env = []string{"SAVED=" + saved}
	c.CloseGrace = time.Minute
	if err := startConfig(t, c).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(saved); err != nil {
		t.Error("it was killed before it had saved: ", err)
	}
}

func TestSocketDirIsRemoved(t *testing.T) {
	runtime := testplace.Alone(t)
	p := startConfig(t, self(t, sdk.KindSearcher, "bad-stderr"))
	if left, err := filepath.Glob(runtime + "/tunehost/h*/[0-9]*"); err != nil || len(left) != 1 {
		t.Fatal(left, err)
	}
	_ = p.Close()
	if left, _ := filepath.Glob(runtime + "/tunehost/*"); len(left) != 0 {
		t.Fatal(left)
	}
}

func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(after, "Z")
}

// host is a host that starts a plugin, announces it, and waits for its end.
func host() {
	c, _ := registry.Config(sdk.KindTrainable, "probe")
	if os.Getenv("WRAPPED") != "" { // a child of the process that we start
		c.Path, c.Args = "/bin/sh", []string{"-c", os.Args[0] + " " + strings.Join(c.Args, " ") + " & wait"}
	}
	p, err := process.Start(context.Background(), c)
	if err != nil {
		panic(err)
	}
	t, err := p.OpenTrainable(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	trial := &sdk.Trial{Params: []byte(`{"do":"until killed"}`)}
	_ = t.Send([]train.Command{{Kind: train.Start, Trial: trial}})
	events, err := t.Recv()
	if err != nil {
		panic(err)
	}
	_ = json.NewEncoder(os.Stdout).Encode(events[0].PID)
	_, _ = io.Copy(io.Discard, os.Stdin)
	if os.Getenv("KILL_ALL") != "" {
		process.KillAll()
		_, _ = t.Recv()
	}
}

// B-025
func TestOrphan(t *testing.T) {
	for _, how := range []string{"SIGKILL", "WRAPPED", "KILL_ALL"} {
		cmd := exec.Command(os.Args[0], "bad-host")
		cmd.Env = append(os.Environ(), how+"=1")
		in, _ := cmd.StdinPipe()
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var pid int
		if err := json.NewDecoder(out).Decode(&pid); err != nil {
			t.Fatal(err)
		}
		if !alive(pid) {
			t.Fatal("the plugin does not run")
		}
		if how != "KILL_ALL" {
			_ = cmd.Process.Kill()
		}
		_ = in.Close()
		_ = cmd.Wait()
		eventually(t, "the end of plugin "+strconv.Itoa(pid), func() bool { return !alive(pid) })
	}
}
