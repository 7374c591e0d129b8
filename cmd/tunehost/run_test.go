package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/analysis/analysistest"
	"github.com/tunehost/tunehost/host/config"
)

// played is a program whose engine answers what the test says.
type played struct {
	*app
	out, err bytes.Buffer
	got      host.Options
}

func play(t *testing.T, ended host.Ended, err error) *played {
	t.Helper()
	p := &played{}
	p.app = newApp(nil, strings.NewReader(""), &p.out, &p.err)
	if ended.Outcome != 0 {
		ended.Dir = filepath.Join(t.TempDir(), "digits")
		w := analysistest.New(ended.Dir, []byte(oneObjective), fixtureSeed)
		w.Fails = map[core.TrialNo]string{2: "exit status 3"}
		w.Start(2)
		w.Run(-1)
		w.Close()
	}
	run := func(_ context.Context, o host.Options) (host.Ended, error) {
		p.got = o
		return ended, err
	}
	p.engine = engine{run: run, resume: func(ctx context.Context, _ string, o host.Options) (host.Ended, error) { return run(ctx, o) },
		validate: func(ctx context.Context, o host.Options) error { _, err := run(ctx, o); return err }}
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
		{"a trial failed", host.Ended{Outcome: core.Finished, Errored: 1}, nil, nil, 1},
		{"a trial failed, and that is fine", host.Ended{Outcome: core.Finished, Errored: 1}, nil, []string{"--no-fail"}, 0},
		{"the run failed", host.Ended{Outcome: core.Failed}, nil, []string{"--no-fail"}, 1},
		{"interrupted", host.Ended{Outcome: core.InterruptedByUser, Errored: 1}, nil, nil, 130},
		{"mistakes in the file", host.Ended{}, &host.UserError{Err: mistakes}, nil, 2},
		{"no such file", host.Ended{}, &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}, nil, 2},
		{"the disk is broken", host.Ended{}, errors.New("input/output error"), nil, 1},
	} {
		p := play(t, c.ended, c.err)
		if got := p.exit(append([]string{"run", "x.yaml", "-v", "0"}, c.args...)...); got != c.want {
			t.Errorf("%s: exit status %d, want %d; %s", c.what, got, c.want, p.err.String())
		}
	}
}

func TestMistakesOfAFileAreALineEach(t *testing.T) {
	at := func(line int) config.Pos { return config.Pos{File: "x.yaml", Line: line, Column: 1} }
	p := play(t, host.Ended{}, &host.UserError{Err: config.Errors{{Pos: at(3), Msg: "one"}, {Pos: at(4), Msg: "two"}}})
	p.exit("run", "x.yaml")
	if want := "x.yaml:3:1: one\nx.yaml:4:1: two\n"; p.err.String() != want {
		t.Errorf("found %q, want %q", p.err.String(), want)
	}
}

func TestFlagsReachTheHost(t *testing.T) {
	p := play(t, host.Ended{Outcome: core.Finished}, nil)
	if exit := p.exit("run", "x.yaml", "--set", "trials=3", "--set", "seed=1", "--storage", "s", "--name", "n", "--resume", "local",
		"--resources", "cpu=4", "-v", "3", "--json"); exit != 0 {
		t.Fatalf("exit status %d: %s", exit, p.err.String())
	}
	o := p.got
	got := strings.TrimSpace(fmt.Sprintln(o.File, o.Sets, o.Storage, o.Name, o.Resume, o.Resources, o.Verbose, o.JSON, o.Terminal))
	if want := "x.yaml [trials=3 seed=1] s n local cpu=4 3 true false"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	if p.out.Len() > 0 {
		t.Errorf("--json is for events alone, found %s", p.out.String())
	}
}

// B-078, B-123
func TestSummary(t *testing.T) {
	p := play(t, host.Ended{Outcome: core.InterruptedByUser, Errored: 1}, nil)
	p.exit("run", "x.yaml")
	for _, want := range []string{"accuracy 0.68625 (last): trial 3 (", "\nlr ", "go on with: tunehost resume ", "digits is interrupted after "} {
		if !strings.Contains(p.out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, p.out.String())
		}
	}
	if want := ") failed: exit status 3\n"; !strings.Contains(p.err.String(), want) {
		t.Errorf("%q is missing in %s", want, p.err.String())
	}
}

// B-121
func TestEveryStateKeepsRows(t *testing.T) {
	have := map[core.State]int{core.Running: 4, core.Terminated: 1000, core.Errored: 1, core.Pending: 50}
	got := shares(10, func(s core.State) int { return have[s] })
	if want := (map[core.State]int{core.Running: 3, core.Terminated: 3, core.Errored: 1, core.Pending: 3}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := shares(3, func(core.State) int { return 0 }); len(got) != 0 {
		t.Errorf("nothing to show: %v", got)
	}
}

func TestTableFits(t *testing.T) {
	tab := &table{}
	tab.column("name", false)
	tab.column("value", true)
	tab.column("a long message", false)
	tab.rows = [][]string{{"ä", "1", strings.Repeat("x", 60)}, {"größer", "100", "short"}}
	for _, c := range []struct {
		width int
		want  string
	}{
		{30, "name    value  a long message\nä           1  xxxxxxxxxxxxxx…\ngrößer    100  short\n"},
		{13, "name    value\nä           1\ngrößer    100\n"},
	} {
		var out bytes.Buffer
		if err := tab.write(&out, c.width, func(s string) string { return s }); err != nil || out.String() != c.want {
			t.Errorf("width %d: found\n%swant\n%s", c.width, out.String(), c.want)
		}
	}
}
