package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage/diskspace"
)

// played is a program whose engine answers what the test says.
type played struct {
	*app
	out, err bytes.Buffer
	got      host.Options
}

func play(ended host.Ended, err error) *played {
	p := &played{}
	p.app = newApp(nil, strings.NewReader(""), &p.out, &p.err)
	run := func(_ context.Context, o host.Options) (host.Ended, error) {
		p.got = o
		return ended, err
	}
	started := func(ctx context.Context, _ host.Experiment, o host.Options) (host.Ended, error) { return run(ctx, o) }
	p.engine = engine{run: started, resume: func(ctx context.Context, _ string, o host.Options) (host.Ended,
		error) {
		return run(ctx, o)
	},
		validate: func(ctx context.Context, o host.Options) (string, error) { _, err := run(ctx, o); return "", err }}
	return p
}

func (p *played) exit(args ...string) int {
	err := p.execute(args)
	p.explain(err)
	return exitStatus(err)
}

// B-078
func TestExitStatusOfRun(t *testing.T) {
	mistakes := config.Errors{{Pos: config.Pos{File: "x.yaml", Line: 3, Column: 1}, Msg: "no"}}
	for _, c := range []struct {
		what  string
		ended host.Ended
		err   error
		args  []string
		want  int
	}{
		{"all is well", host.Ended{Outcome: core.Finished}, nil, nil, 0},
		{"the user stopped it", host.Ended{Outcome: core.StoppedByUser}, nil, nil, 0},
		{"it was told to end on a full disk", host.Ended{}, fmt.Errorf("the record: %w", diskspace.Unmet("it is full")),
			nil, 130},
		{"a trial failed", host.Ended{Outcome: core.Finished, Errored: 1}, nil, nil, 1},
		{"a trial failed, and that is fine", host.Ended{Outcome: core.Finished, Errored: 1}, nil, []string{"--no-fail"},
			0},
		{"all results were NaN", host.Ended{Outcome: core.Finished, NonFinite: "NaN"}, nil, nil, 1},
		{"all results were NaN, and it continues", host.Ended{Outcome: core.InterruptedByUser, NonFinite: "NaN"}, nil,
			nil,
			130},
		{"the run failed", host.Ended{Outcome: core.Failed}, nil, []string{"--no-fail"}, 1},
		{"interrupted", host.Ended{Outcome: core.InterruptedByUser, Errored: 1}, nil, nil, 130},
		{"mistakes in the file", host.Ended{}, &host.UserError{Err: mistakes}, nil, 2},
		{"no such file", host.Ended{}, &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}, nil, 2},
		{"the disk is broken", host.Ended{}, errors.New("input/output error"), nil, 1},
	} {
		p := play(c.ended, c.err)
		if got := p.exit(append([]string{"run", "x.yaml", "-v", "0"}, c.args...)...); got != c.want {
			t.Errorf("%s: exit status %d, want %d; %s", c.what, got, c.want, p.err.String())
		}
	}
}

func TestMistakesOfAFileAreALineEach(t *testing.T) {
	at := func(line int) config.Pos { return config.Pos{File: "x.yaml", Line: line, Column: 1} }
	p := play(host.Ended{}, &host.UserError{Err: config.Errors{{Pos: at(3), Msg: "one"}, {Pos: at(4), Msg: "two"}}})
	p.exit("run", "x.yaml")
	if want := "x.yaml:3:1: one\nx.yaml:4:1: two\n"; p.err.String() != want {
		t.Errorf("found %q, want %q", p.err.String(), want)
	}
}

func TestFlagsReachTheHost(t *testing.T) {
	p := play(host.Ended{Outcome: core.Finished}, nil)
	if exit := p.exit("run", "x.yaml", "--set", "trials=3", "--set", "seed=1", "--storage", "s", "--name", "n",
		"--resume", "local",
		"--resources", "cpu=4", "-v", "3", "--json"); exit != 0 {
		t.Fatalf("exit status %d: %s", exit, p.err.String())
	}
	o := p.got
	got := strings.TrimSpace(fmt.Sprintln(o.File, o.Sets, o.Storage, o.Name, o.Resume, o.Resources, o.Verbose, o.JSON))
	if want := "x.yaml [trials=3 seed=1] s n local cpu=4 3 true"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	if p.out.Len() > 0 {
		t.Errorf("--json is for events alone, found %s", p.out.String())
	}
}

func TestTableFits(t *testing.T) {
	tab := &table{}
	tab.column("name", false)
	tab.column("value", true)
	tab.column("a long message", false)
	tab.rows = [][]string{{"ä", "0.123456789012", strings.Repeat("x", 60)}, {"größer", "100", "\x1b[2Jshort"}}
	for _, c := range []struct {
		width int
		want  string
	}{
		{38, "name             value  a long message\nä       0.123456789012  xxxxxxxxxxxxx…\ngrößer             " +
			"100  \\u001b[2Jshort\n"},
		{30, "name             value\nä       0.123456789012\ngrößer             100\n" +
			"… --json or a wider terminal …\n"},
		{5, "name\nä\ngrößer\n… --…\n"},
	} {
		var out bytes.Buffer
		if err := tab.write(&out, c.width, func(s string) string { return s }); err != nil || out.String() != c.want {
			t.Errorf("width %d: found\n%swant\n%s", c.width, out.String(), c.want)
		}
	}
}

// B-077: the failure of an experiment is one line on stderr, even if nothing else is
// shown.
func TestFailureIsSaid(t *testing.T) {
	for _, args := range [][]string{{"-v", "0"}, {"--json"}, nil} {
		p := play(host.Ended{Outcome: core.Failed, Reason: "searcher \"mine\" failed\n3 times"}, nil)
		if p.exit(append([]string{"run", "x.yaml"}, args...)...) != exitFailed {
			t.Errorf("%v: it did not fail", args)
		}
		if want := "tunehost: the experiment has failed and is saved: searcher \"mine\" failed; 3 " +
			"times\n"; p.err.String() != want {
			t.Errorf("%v: %q, want %q", args, p.err.String(), want)
		}
	}
	p := play(host.Ended{Outcome: core.Failed, Reason: "ValueError: no\nTraceback (most recent call last):\n  File " +
		"\"a.py\""}, nil)
	if p.exit("run", "x.yaml"); p.err.String() != "tunehost: the experiment has failed and is saved: ValueError: no\n" {
		t.Error(p.err.String())
	}
	if p := play(host.Ended{Outcome: core.StoppedByUser}, nil); p.exit("run", "x.yaml") != exitOK || p.err.Len() > 0 {
		t.Error(p.err.String())
	}
}

// The reason of a trial's end has several lines if there is no room in one, and is shortened if there is none in these;
// its parameters are hidden first.
func TestTableKeepsWhatIsNoDetail(t *testing.T) {
	tab := &table{}
	tab.column("#", true)
	tab.detail("optimizer", false)
	tab.detail("momentum", true)
	tab.prose("why")
	tab.rows = [][]string{{"1", "adam", "0.12345678", "stopped by the user, who had other plans"}}
	for width, want := range map[int]string{
		80: "#  optimizer    momentum  why\n1  adam       0.12345678  stopped by the user, who had other plans\n",
		50: "#  optimizer  why\n1  adam       stopped by the user, who had other\n              plans\n" +
			"… --json or a wider terminal shows momentum\n",
		40: "#  why\n1  stopped by the user, who had other\n   plans\n… --json or a wider terminal shows opti…\n",
		30: "#  why\n1  stopped by the user, who\n   had other plans\n… --json or a wider terminal …\n",
		15: "#  why\n1  stopped by\n   the user,\n   who had\n   other plans\n… --json or a …\n",
	} {
		var out bytes.Buffer
		if err := tab.write(&out, width, func(s string) string { return s }); err != nil || out.String() != want {
			t.Errorf("width %d: found\n%swant\n%s", width, out.String(), want)
		}
	}
}

// A flag with an empty value would do nothing, or something else than the user means: a variable may not be set.
func TestEmptyFlags(t *testing.T) {
	for _, args := range [][]string{{"run", "x.yaml", "--name"}, {"run", "x.yaml", "--storage"},
		{"run", "x.yaml", "--resources"}, {"asktell", "x.yaml", "--name"}, {"asktell", "x.yaml", "--storage"},
		{"doctor", "--executor"}, {"doctor", "results", "--executor"}, {"add", "results/x", "--clone"},
		{"serve", "--tls-cert"}, {"best", "results/x", "--metric"}, {"plot", "results/x", "history", "-o"}} {
		p := play(host.Ended{Outcome: core.Finished}, nil)
		exit := p.exit(append(args, "")...)
		if exit != 2 || !strings.Contains(p.err.String(), " is empty, expected a value for ") {
			t.Errorf("%s '': exit status %d: %s", args, exit, p.err.String())
		}
	}
}
