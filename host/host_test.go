package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/replay"
	"github.com/tunehost/tunehost/plugins/schedulers/asha"
	"github.com/tunehost/tunehost/plugins/schedulers/fifo"
	"github.com/tunehost/tunehost/plugins/schedulers/pbt"
	"github.com/tunehost/tunehost/plugins/schedulers/resources"
	"github.com/tunehost/tunehost/plugins/searchers/auto"
	"github.com/tunehost/tunehost/plugins/searchers/grid"
	"github.com/tunehost/tunehost/plugins/searchers/random"
	"github.com/tunehost/tunehost/plugins/trainables/chaos"
	"github.com/tunehost/tunehost/plugins/trainables/command"
	"github.com/tunehost/tunehost/plugins/trainables/digits"
)

var testPlugins = bundled.New(auto.Plugin, random.Plugin, grid.Plugin, fifo.Plugin, asha.Plugin, chaos.Plugin,
	digits.Plugin, command.Plugin(), sized, widener, resources.Plugin, pbt.Plugin)

func TestMain(m *testing.M) {
	if handled, exit := testPlugins.Main(os.Args[1:]); handled {
		syscall.Exit(exit) // without the second that the race detector waits at each end
	}
	os.Exit(m.Run())
}

// write makes an experiment file in a folder of its own.
func write(t *testing.T, text string) Options {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "test.yaml")
	if err := os.WriteFile(file, []byte(strings.TrimLeft(text, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	storage := filepath.Join(dir, "results")
	pluginsOf.Store(storage, testPlugins)
	t.Cleanup(func() { replays(t, storage) })
	return Options{File: file, Storage: storage, Plugins: testPlugins, Output: Output{Stdout: os.Stderr,
		Stderr: os.Stderr, Verbose: 1},
		Share: true} // tests run side by side
}

// pluginsOf are those that the experiments of a storage were run with.
var pluginsOf sync.Map

// replays checks that whatever ran replays (B-102).
func replays(t *testing.T, storage string) {
	known, _ := pluginsOf.Load(storage)
	journals, err := filepath.Glob(filepath.Join(storage, "*", "journal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range journals {
		if err := replay.Check(context.Background(), filepath.Dir(j), known.(*bundled.Registry)); err != nil {
			t.Error(err)
		}
	}
}

func TestQuickest(t *testing.T) {
	o := write(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 3, any_params: true}}
space: {quality: {uniform: [0, 1]}}
searcher: random
scheduler: {plugin: asha, max: 3}
trials: 8
seed: 7
`)
	ended, err := run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if ended.Outcome != core.Finished || ended.Errored != 0 {
		t.Fatalf("ended %+v", ended)
	}
	again, err := run(context.Background(), o)
	if err != nil || again.Outcome != core.Finished {
		t.Fatalf("again %+v %v", again, err)
	}
}
