// Package rust_test builds the samples of the crate with cargo and runs them as the host does.
package rust_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/internal/toolchain"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// tools is the folder of the repository for built and downloaded files.
func tools(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../../../.tools")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// cargo runs a command of cargo with low priority.
func cargo(t testing.TB, dir string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, toolchain.Need(t, toolchain.Rust), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CARGO_TARGET_DIR="+filepath.Join(tools(t), "cargo"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cargo %v: %v\n%s", args, err, out)
	}
}

// built builds the samples once.
var built = struct {
	sync.Once
	done bool
}{}

// sample returns the program of a sample.
func sample(t testing.TB, name string) string {
	t.Helper()
	toolchain.Need(t, toolchain.Rust)
	built.Do(func() {
		cargo(t, ".", "build", "--quiet", "--locked", "--examples", "--jobs", "2")
		built.done = true
	})
	if !built.done {
		t.Fatal("the samples could not be built; another test says why")
	}
	return filepath.Join(tools(t), "cargo", "debug", "examples", name)
}

// output records what a plugin printed, and lets tests wait for a text.
type output struct {
	mu    sync.Mutex
	lines []process.Line
}

func (o *output) add(l process.Line) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines = append(o.lines, l)
}

func (o *output) has(level string, text string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range o.lines {
		if fmt.Sprint(l.Level) == level && bytes.Contains([]byte(l.Text), []byte(text)) {
			return true
		}
	}
	return false
}

// start starts a program as a plugin.
func start(t testing.TB, kind sdk.Kind, path string, args ...string) (*process.Process, *output) {
	t.Helper()
	out := &output{}
	p, err := process.Start(t.Context(), process.Config{
		Program: process.Program{Kind: kind, Name: filepath.Base(path), Path: path, Args: args}, Log: out.add})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, out
}

func TestStartedByHand(t *testing.T) {
	cmd := exec.Command(sample(t, "searcher"))
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 ||
		!bytes.Contains(text, []byte(`this is the searcher "climber" for tunehost`)) {
		t.Fatalf("%v: %s", err, text)
	}
}
