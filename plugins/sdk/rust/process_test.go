package rust_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// program runs a sample as a program.
type program struct {
	kind sdk.Kind
	path string
}

func (p *program) describe(t *testing.T) sdk.Info {
	started, _ := start(t, p.kind, p.path)
	info, err := started.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func (p *program) searcher(t testing.TB, problem sdk.Problem, options string) (sdk.Searcher, error) {
	started, _ := start(t, p.kind, p.path)
	return started.OpenSearcher(t.Context(), problem, []byte(options), nil)
}

func (p *program) scheduler(t *testing.T, problem sdk.Problem, options string) (sdk.Scheduler, error) {
	started, _ := start(t, p.kind, p.path)
	return started.OpenScheduler(t.Context(), problem, []byte(options), nil)
}

func (p *program) train(t *testing.T, options string, trial sdk.Trial, pauseAt int, state []byte) (losses []float64,
	saved []byte, failed string) {
	trainer := opened(t, p.path, options)
	if state != nil {
		trial.Restore = t.TempDir()
		write(t, filepath.Join(trial.Restore, "state"), state)
	}
	dir := t.TempDir()
	command(t, trainer, train.Command{Kind: train.Start, Run: 1, Trial: &trial})
	for {
		for _, e := range events(t, trainer) {
			switch e.Kind {
			case train.Result:
				losses = append(losses, e.Metrics[0].Value)
				answer := train.Command{Kind: train.Continue, Run: 1, Credits: 1}
				if len(losses) == pauseAt {
					answer = train.Command{Kind: train.Stop, Run: 1, Dir: dir}
				}
				command(t, trainer, answer)
			case train.Saved:
				saved = read(t, filepath.Join(dir, "state"))
			case train.Ended:
				if e.RestoreFailed {
					e.Error = "restore: " + e.Error
				}
				return losses, saved, e.Error
			}
		}
	}
}

func opened(t testing.TB, path, options string) plugin.Trainer {
	t.Helper()
	started, _ := start(t, sdk.KindTrainable, path)
	trainer, err := started.OpenTrainable(t.Context(), []byte(options))
	if err != nil {
		t.Fatal(err)
	}
	return trainer
}

func command(t testing.TB, trainer plugin.Trainer, c ...train.Command) {
	t.Helper()
	if err := trainer.Send(c); err != nil {
		t.Fatal(err)
	}
}

func events(t testing.TB, trainer plugin.Trainer) []train.Event {
	t.Helper()
	es, err := trainer.Recv()
	if err != nil {
		t.Fatal(err)
	}
	return es
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func wantError(t *testing.T, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%v lacks %q", err, says)
	}
}

// Many trials at a time, in one process.
func TestSharedProcess(t *testing.T) {
	trainer := opened(t, sample(t, "trainable"), `{"epochs": 50}`)
	const runs = 8
	for run := range uint64(runs) {
		tr := trial(1e-3)
		command(t, trainer, train.Command{Kind: train.Start, Run: run, Trial: &tr})
	}
	results, ended := 0, 0
	for ended < runs {
		for _, e := range events(t, trainer) {
			switch e.Kind {
			case train.Result:
				results++
				command(t, trainer, train.Command{Kind: train.Continue, Run: e.Run, Credits: 1})
			case train.Ended:
				ended++
			}
		}
	}
	if results != 50*runs {
		t.Errorf("%d results", results)
	}
}

func TestKill(t *testing.T) {
	trainer := opened(t, sample(t, "trainable"), "")
	tr := trial(1e-3)
	command(t, trainer, train.Command{Kind: train.Start, Run: 1, Trial: &tr}, train.Command{Kind: train.Kill, Run: 1})
	for {
		for _, e := range events(t, trainer) {
			if e.Kind == train.Ended {
				if e.Error != "" {
					t.Error(e.Error)
				}
				return
			}
		}
	}
}

// Printed output is logged; a panic is logged and returned as an error.
func TestOutputIsLog(t *testing.T) {
	sample(t, "searcher") // builds the probe as well
	for do, want := range map[string][2]string{"": {"", "suggesting 1"}, "panic": {"error", "no luck"}} {
		p, out := start(t, sdk.KindSearcher, filepath.Join(tools(t), "cargo", "debug", "examples", "probe"))
		s, err := p.OpenSearcher(t.Context(), problem(spaces["wide"]), []byte(`{"do": "`+do+`"}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Suggest(t.Context(), make([]sdk.Request, 1)); (err != nil) != (do == "panic") {
			t.Error(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if !out.has(want[0], want[1]) {
			t.Errorf("%q: the log lacks %q: %v", do, want, out.lines)
		}
	}
}

// A snapshot may be larger than other messages.
func TestLargeSnapshot(t *testing.T) {
	sample(t, "searcher")
	p, _ := start(t, sdk.KindSearcher, filepath.Join(tools(t), "cargo", "debug", "examples", "probe"))
	snapshot := []byte(strings.Repeat("0", 16<<20-1) + "5") // the probe counts events
	s, err := p.OpenSearcher(t.Context(), problem(spaces["wide"]), nil, snapshot)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := s.Snapshot(t.Context()); err != nil || string(b) != "5" {
		t.Errorf("%q, %v", b, err)
	}
}
