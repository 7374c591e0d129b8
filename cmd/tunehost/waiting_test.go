package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/replay"
	"github.com/tunehost/tunehost/host/simulate"
)

// waits is a terminal of 40 columns with a clock that stands still.
func waits() (w *waiting, screen *bytes.Buffer, now *time.Time) {
	screen, now = &bytes.Buffer{}, new(time.Time)
	return &waiting{to: screen, width: func() int { return 40 }, now: func() time.Time { return *now }}, screen, now
}

// What a command waits for is one line, after a moment, which other output replaces.
func TestWaiting(t *testing.T) {
	w, screen, now := waits()
	shows := func(want string) {
		t.Helper()
		w.draw()
		if got := screen.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		screen.Reset()
	}
	shows("")
	w.on("searcher \x1bslow")
	shows("")
	*now = now.Add(briefly)
	shows("\rwaiting for searcher \\u001bslow (1s)\x1b[K")
	*now = now.Add(time.Second)
	w.on("scheduler " + strings.Repeat("日本", 20))
	shows("\rwaiting for scheduler 日本日本日本日本…\x1b[K")
	if _, err := w.past(screen).Write([]byte("warning: x\n")); err != nil {
		t.Fatal(err)
	}
	shows("\r\x1b[Kwarning: x\n\rwaiting for scheduler 日本日本日本日本…\x1b[K")
	w.on("")
	shows("\r\x1b[K")
	w.on("a trial that starts later")
	*now = now.Add(time.Minute)
	shows("")
}

// Nothing is shown in a pipe.
func TestWaitingInAPipe(t *testing.T) {
	var screen bytes.Buffer
	w := waitingOn(&screen, "xterm")
	w.on("searcher slow")
	if w.past(&screen) != &screen || w.stop != nil {
		t.Error("it waits")
	}
}

// Commands that check say what they wait for, and erase it before their first word; with -v 0 or --json they are
// silent.
func TestCommandsSayWhatTheyWaitFor(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"validate", "x.yaml"}, "waiting for searcher slow (1s)"},
		{[]string{"run", "x.yaml"}, "waiting for searcher slow (1s)"},
		{[]string{"resume", "results/x"}, "waiting for searcher slow (1s)"},
		{[]string{"replay", "results/x"}, "waiting for searcher slow (1s)"},
		{[]string{"simulate", "--from", "results/x"}, "waiting for searcher slow (1s)"},
		{[]string{"asktell", "x.yaml"}, "waiting for searcher slow (1s)"},
		{[]string{"simulate", "--from", "results/x", "--json"}, ""},
		{[]string{"run", "x.yaml", "-v", "0"}, ""},
		{[]string{"run", "x.yaml", "--json"}, ""},
	} {
		var out, errs bytes.Buffer
		a := newApp(nil, strings.NewReader(""), &out, &errs)
		w, screen, now := waits()
		a.waiting = w
		work := func(o host.Options) {
			o.Await("searcher slow")
			*now = now.Add(briefly)
			w.draw()
		}
		a.engine = engine{
			run: func(_ context.Context, _ host.Experiment, o host.Options) (host.Ended, error) {
				work(o)
				return host.Ended{}, nil
			},
			resume: func(_ context.Context, _ string, o host.Options) (host.Ended, error) {
				work(o)
				return host.Ended{}, nil
			},
			validate: func(_ context.Context, o host.Options) (string, error) {
				work(o)
				return "", nil
			},
			replay: func(_ context.Context, _ string, o replay.Options) (replay.Result, error) {
				work(host.Options{Output: host.Output{Waits: o.Waits}})
				return replay.Result{}, nil
			},
			backtest: func(_ context.Context, _ string, o host.Options, _ int) (simulate.Result, error) {
				work(o)
				return simulate.Result{}, nil
			},
			askTell: func(_ context.Context, _ io.Reader, _ io.Writer, o host.Options) error {
				work(o)
				return nil
			},
		}
		if err := a.execute(c.args); err != nil {
			t.Fatal(err)
		}
		got := screen.String()
		if c.want == "" && got != "" || c.want != "" && got != "\r"+c.want+"\x1b[K\r\x1b[K" {
			t.Errorf("%v: %q", c.args, got)
		}
	}
}
