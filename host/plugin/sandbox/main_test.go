package sandbox_test

import (
	"os"
	"testing"

	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
	"github.com/tunehost/tunehost/plugins/sdk"
)

var registry = bundled.New()

// TestMain makes the test binary its own runner.
func TestMain(m *testing.M) {
	if handled, exit := registry.Main(os.Args[1:]); handled {
		os.Exit(exit)
	}
	// The race detector makes each process wait a second before its end.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func config(t testing.TB, c sandbox.Config) process.Config {
	t.Helper()
	p, err := registry.Sandbox(c)
	if err != nil {
		t.Fatal(err)
	}
	p.Inherit = append(p.Inherit, "GORACE")
	p.Log = func(l process.Line) { t.Logf("%s %s %.300s", l.Stream, l.Level, l.Text) }
	return p
}

func start(t testing.TB, c sandbox.Config) *process.Process {
	t.Helper()
	p, err := process.Start(t.Context(), config(t, c))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func TestProbe(t *testing.T) {
	p := start(t, sandbox.Config{Kind: sdk.KindSearcher, Name: "x", Path: "/tmp/s.wasm"})
	t.Log(p.Describe(t.Context()))
}
