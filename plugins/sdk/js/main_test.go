// Package js_test runs the JavaScript SDK and its samples as the host does.
package js_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/internal/toolchain"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// startTimeout is long, because many programs start at the same time here.
const startTimeout = time.Minute

// hostArg makes the test binary run as a host that the test kills.
const hostArg = "be-a-host"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == hostArg {
		host()
	}
	os.Exit(m.Run())
}

// node returns the program that runs plugins, after installing their dependencies.
func node(t testing.TB) string {
	t.Helper()
	program := toolchain.Need(t, toolchain.JavaScript)
	toolchain.Built(t, toolchain.JavaScript, "plugins/sdk/js/node_modules", "js")
	return program
}

// program returns a JavaScript file as a plugin.
func program(t testing.TB, kind sdk.Kind, file string) process.Config {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSuffix(filepath.Base(file), ".js")
	return process.Config{
		Program: process.Program{Kind: kind, Name: name, Path: node(t), Args: []string{path},
			StartTimeout: startTimeout},
		Log: func(l process.Line) { t.Logf("%s %s: %.300s", l.Stream, l.Level, l.Text) },
	}
}

func start(t testing.TB, c process.Config) *process.Process {
	t.Helper()
	p, err := process.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// lines records the output of a plugin.
type lines struct {
	mu   sync.Mutex
	kept []process.Line
}

func (l *lines) add(line process.Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, line)
}

// has reports whether a line of the level contains the text.
func (l *lines) has(level, text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.kept {
		if line.Level == level && strings.Contains(line.Text, text) {
			return true
		}
	}
	return false
}

// after returns the text after the prefix in the first line that contains it.
func (l *lines) after(prefix string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.kept {
		if rest, ok := strings.CutPrefix(line.Text, prefix); ok {
			return rest
		}
	}
	return ""
}

// eventually polls a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("%s did not happen", what)
}
