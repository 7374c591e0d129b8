package lines

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func results(first, n uint64) (events []sdk.ReporterEvent) {
	for i := range n {
		events = append(events, sdk.ReporterEvent{Number: first + i, Kind: sdk.ReportResult, Time: time.Unix(1, 0),
			Trial:  &sdk.ReportedTrial{ID: "00000_ab", State: "RUNNING", Attempt: 1},
			Result: &sdk.ReportedResult{Iteration: i + 1, Metrics: []sdk.Metric{{Name: "loss", Value: math.Inf(1)}}}})
	}
	return events
}

func opened(t *testing.T, dir string) (sdk.Reporter, uint64) {
	t.Helper()
	r, after, err := Plugin.Open(sdk.Experiment{Dir: dir, Told: 99}, []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	return r, after
}

// B-127: it continues after the events in the file, whatever the host believes, and rewrites a torn
// line.
func TestGoesOnWhereItWas(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "events.jsonl")
	r, after := opened(t, dir)
	if after != 0 {
		t.Fatalf("a new file has events up to %d", after)
	}
	if err := r.Report(t.Context(), results(1, 3)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text[:len(text)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	r, after = opened(t, dir)
	if after != 2 {
		t.Fatalf("it has events up to %d, want 2", after)
	}
	if err := r.Report(t.Context(), results(3, 2)); err != nil {
		t.Fatal(err)
	}
	if err := r.(*reporter).Close(); err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines, want 4:\n%s", len(lines), text)
	}
	for i, text := range lines {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil || l.Number != uint64(i+1) ||
			l.Metrics["loss"] != "+Inf" {
			t.Errorf("line %d is %s (%v)", i+1, text, err)
		}
	}
}

func TestRefuses(t *testing.T) {
	if err := conformance.CheckInfo(Plugin.Info, sdk.KindReporter); err != nil {
		t.Error(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes"), []byte("dear diary\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for options, want := range map[string]string{
		`{"file": "notes"}`: "not written by this reporter",
		`{"file": "no/x"}`:  "no such file",
		`{"files": "x"}`:    `unknown option "files"; known: file`,
	} {
		if _, _, err := Plugin.Open(sdk.Experiment{Dir: dir}, []byte(options)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", options, err, want)
		}
	}
}
