package hosttest_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/samples/reporter/lines"
)

// torn is the sample reporter, but in its first lives it ends in the middle of a
// batch, as its option says.
var torn = sdk.ReporterPlugin{
	Info: sdk.Info{Name: "torn", Version: "1.0.0",
		Options: []byte(`{"type": "object", "properties": {"do": {"type": "string"}, "lives": {"type": "integer"}}}`)},
	Open: func(e sdk.Experiment, options []byte) (sdk.Reporter, uint64, error) {
		r := &tearing{dir: e.Dir, lives: 2}
		if err := json.Unmarshal(options, r); err != nil {
			return nil, 0, err
		}
		inner, after, err := lines.Plugin.Open(e, nil)
		r.Reporter = inner
		return r, after, err
	},
}

type tearing struct {
	sdk.Reporter `json:"-"`
	Do           string `json:"do"`
	Lives        int    `json:"lives"`
	dir          string
	lives        int
}

func (r *tearing) Report(ctx context.Context, events []sdk.ReporterEvent) error {
	mark := filepath.Join(r.dir, "torn")
	text, _ := os.ReadFile(mark)
	if r.Lives > 0 {
		r.lives = r.Lives
	}
	if len(text) >= r.lives {
		return r.Reporter.Report(ctx, events)
	}
	_ = os.WriteFile(mark, append(text, 'x'), 0o600)
	if err := r.Reporter.Report(ctx, events[:len(events)/2]); err != nil {
		return err
	}
	switch r.Do {
	case "hang":
		select {}
	case "flood":
		for range 60_000 {
			_, _ = os.Stderr.WriteString("\x1b[31mzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\n")
		}
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

const reporting = `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 20, sleep: 0.01, any_params: true}}
space: {quality: {uniform: [0, 1]}}
checkpoint: {every: 5}
searcher: random
trials: 6
`

// B-127: a reporter's process that dies in the middle of a batch, hangs past the
// deadline or floods continues where it was: no event is lost or doubled.
func TestReporterProcessDies(t *testing.T) {
	t.Parallel()
	for _, do := range []string{"die", "hang", "flood"} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			options, timeout := "do: "+do, 2*time.Minute
			if do == "hang" { // once, and a call that is slow by itself may be taken for another time
				options, timeout = options+", lives: 1", 6*time.Second
			}
			x := write(t, reporting+"reporters: [jsonl, {plugin: torn, "+options+"}]\n", nil)
			x.CallTimeout = timeout
			said := x.run(t, 0)
			hosttest.CheckFinished(t, x.dir, 6)
			hosttest.CheckReported(t, x.dir, filepath.Join(x.dir, "events.jsonl"))
			told := map[string]string{"flood": " lines are dropped, since it prints ",
				"hang": " has not received all events yet: the host waits for it, "}[do]
			bothers := func(line string) bool { return told == "" || !strings.Contains(line, told) }
			if slices.ContainsFunc(regexp.MustCompile(`(?m)^.*reporter.*$`).FindAllString(said, -1), bothers) {
				t.Errorf("it bothers the user:\n%s", said)
			}
			log, err := os.ReadFile(filepath.Join(x.dir, "host.log"))
			if err != nil || strings.Contains(string(log), "\x1b") || len(log) > 32<<20 {
				t.Errorf("the log has %d bytes, with escapes: %v (%v)", len(log), strings.Contains(string(log), "\x1b"),
					err)
			}
			none(t, x)
		})
	}
}

// B-127: one that never works is given up with one warning; trials and exit
// status are as without it. When it works again, it hears what it has missed.
func TestReporterProcessIsGivenUp(t *testing.T) {
	t.Parallel()
	x := write(t, reporting+"reporters: [jsonl, {plugin: torn, lives: 3}]\n", nil)
	said := x.run(t, 0)
	if strings.Count(said, "warning: ") != 1 {
		t.Errorf("want one warning:\n%s", said)
	}
	wants(t, said,
		`reporter "torn" receives no more events, and the experiment continues without it: it failed 3 times`,
		"was ended by signal 9")
	hosttest.CheckFinished(t, x.dir, 6)
	x.run(t, 0)
	hosttest.CheckReported(t, x.dir, filepath.Join(x.dir, "events.jsonl"))
	none(t, x)
}
