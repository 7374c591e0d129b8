// Package sandboxtest helps tests to build WASM modules and to run them in the sandbox. The test's
// binary is its own runner: its TestMain must first pass the arguments to bundled.Registry.Main.
package sandboxtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
)

// Build builds a Go package as a module and returns its file.
func Build(t testing.TB, pkg string) string {
	t.Helper()
	module := build(t, pkg, "plugin.wasm", []string{"GOOS=wasip1", "GOARCH=wasm"}, "-buildmode=c-shared",
		"-ldflags=-s -w")
	if racing {
		warm(t, module)
	}
	return module
}

// warm compiles the module into the cache, under the version that test binaries use for the compiler.
func warm(t testing.TB, module string) {
	t.Helper()
	cmd := exec.Command("go", "run", "-race=false", "-ldflags=-X "+
		"github.com/tetratelabs/wazero/internal/version.version=dev",
		"github.com/tunehost/tunehost/host/plugin/sandbox/sandboxtest/warm", module, Cache(t))
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// BuildProgram builds a Go package as a program and returns its file.
func BuildProgram(t testing.TB, pkg string) string {
	t.Helper()
	return build(t, pkg, "plugin", nil)
}

func build(t testing.TB, pkg, name string, env []string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	cmd := exec.Command("go", append(append([]string{"build", "-o", out}, flags...), pkg)...)
	cmd.Env = append(os.Environ(), env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// Cache returns a directory of compiled modules that tests share, so that an unchanged module is
// compiled once. It is the cache of a user whose XDG_CACHE_HOME is [CacheHome].
func Cache(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(CacheHome(), "tunehost", "wasm")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// CacheHome returns a directory for the caches of users.
func CacheHome() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("tunehost-test-cache-%d", os.Getuid()))
}

// Process returns how to start a module's runner, whose output goes to the test's log.
func Process(t testing.TB, c sandbox.Config) process.Config {
	t.Helper()
	p, err := bundled.New().Sandbox(c)
	if err != nil {
		t.Fatal(err)
	}
	p.Inherit = append(p.Inherit, "GORACE")
	p.Log = func(l process.Line) { t.Logf("%s %s %.300s", l.Stream, l.Level, l.Text) }
	return p
}

// Start starts a module's runner, and ends it with the test.
func Start(t testing.TB, c sandbox.Config) *process.Process {
	t.Helper()
	return Run(t, Process(t, c))
}

// Run starts a plugin's process, and ends it with the test.
func Run(t testing.TB, c process.Config) *process.Process {
	t.Helper()
	p, err := process.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}
