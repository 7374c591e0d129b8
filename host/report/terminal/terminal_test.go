package terminal

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage/naming"
	"github.com/tunehost/tunehost/host/view"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func running() *fake {
	return &fake{planned: 100, done: 37, failed: 2, elapsed: 12*time.Minute + 4*time.Second, state: "running"}
}

// B-042, B-120, B-121
func TestFrames(t *testing.T) {
	for _, size := range []struct{ width, height int }{{60, 24}, {100, 30}, {32, 16}} {
		f := running()
		s := screen{size.width, size.height, false}
		lines := s.frame(f.Status(), f.Rows(s.rows()), &varied{})
		golden(t, fmt.Sprintf("frame_%d", size.width), strings.Join(lines, "\n")+"\n")
	}
}

func TestFirstFrame(t *testing.T) {
	f := &fake{planned: -1, state: "running"}
	st := f.Status()
	st.Counts = nil
	golden(t, "frame_first", strings.Join(screen{80, 24, false}.frame(st, nil, &varied{}), "\n")+"\n")
}

// B-133: the frame and the plain line say why leases of an executor wait, until nothing waits for them any more.
func TestSaysWhyLeasesWait(t *testing.T) {
	const want = "4 leases wait: Slurm: BeginTime"
	st := running().Status()
	st.Leases = &view.Leases{Used: 4, Waiting: 4, Why: []string{"Slurm: BeginTime\x1b[2J"}}
	said := func() bool {
		line, _ := statusLine(st)
		frame := strings.Join(screen{100, 24, false}.frame(st, nil, &varied{}), "\n")
		inLine, inFrame := strings.Contains(line, " · "+want+" · "), strings.Contains(frame, "\n"+want+"\n")
		if inLine != inFrame {
			t.Errorf("the line and the frame differ:\n%s\n%s", line, frame)
		}
		return inLine
	}
	if !said() {
		t.Error("it is not said")
	}
	st.Ending = "stopped"
	if said() {
		t.Error("it is said of an experiment that ends")
	}
	st.Ending, st.State = "", "finished"
	if said() {
		t.Error("it is said of an experiment that has ended")
	}
}

// B-120, B-126: the frame and the plain line say what is waited for. How long it takes is no reason for another line.
func TestSaysWhatIsAwaited(t *testing.T) {
	st := running().Status()
	st.Waiting = "no worker trains a trial\x1b[2J"
	st.Overdue = []view.Overdue{{Kind: "searcher", Name: "tpe", Seconds: 75}}
	line, same := statusLine(st)
	frame := strings.Join(screen{100, 24, false}.frame(st, nil, &varied{}), "\n")
	const late = "searcher tpe has not answered for 1m15s"
	if !strings.Contains(frame, "\nno worker trains a trial · "+late+"\n") || !strings.Contains(line, " · "+late) ||
		!strings.Contains(same, " · no worker trains a trial · ") || strings.Contains(same, "1m15s") {
		t.Errorf("%s\n%s\n%s", frame, line, same)
	}
}

// A frame that is higher or wider than the screen could not be overwritten. B-120
func TestFramesFitTheScreen(t *testing.T) {
	f := running()
	for width := 20; width < 140; width += 7 {
		for height := 1; height < 40; height++ {
			s := screen{width, height, true}
			lines := s.frame(f.Status(), f.Rows(s.rows()), &varied{})
			if len(lines) > max(height-1, 1) {
				t.Fatalf("%d × %d: %d lines", width, height, len(lines))
			}
			for _, line := range lines {
				if w := ansi.StringWidth(line); w >= width {
					t.Fatalf("%d × %d: %d wide: %q", width, height, w, line)
				}
			}
		}
	}
}

// B-121
func TestEachStateKeepsRows(t *testing.T) {
	have := map[core.State]int{core.Running: 1000, core.Pending: 1, core.Terminated: 1e6, core.Errored: 3}
	got := share(have, 12)
	want := map[core.State]int{core.Running: 5, core.Pending: 0, core.Terminated: 4, core.Errored: 3}
	for s, n := range want {
		if got[s] != n {
			t.Errorf("%v has %d rows, want %d", s, got[s], n)
		}
	}
	for s, n := range share(have, 0) {
		if n != 0 {
			t.Errorf("%v has %d rows where there is no room", s, n)
		}
	}
}

// B-121: for any trials and any room, no PENDING trial is shown while a RUNNING one is not, and no
// usable row stays empty.
func TestWhatRunsIsShownBeforeWhatWaits(t *testing.T) {
	for running := range 9 {
		for pending := range 9 {
			for ended := range 9 {
				for room := range 20 {
					have := map[core.State]int{core.Running: running, core.Pending: pending, core.Terminated: ended}
					given := share(have, room)
					sum := given[core.Running] + given[core.Pending] + given[core.Terminated]
					if given[core.Pending] > 0 && given[core.Running] < running ||
						sum != min(room, running+pending+ended) {
						t.Fatalf("%v of %v for %d rows", given, have, room)
					}
				}
			}
		}
	}
}

// B-121
func TestWhatIsLeftOutIsCounted(t *testing.T) {
	counts := map[core.State]int{core.Pending: 9, core.Terminated: 30, core.Running: 2}
	shown := []view.Trial{inState(core.Running), inState(core.Running), inState(core.Pending), inState(core.Pending)}
	if got, want := leftOut(counts, shown), "… 37 more (30 TERMINATED, 7 PENDING)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := leftOut(map[core.State]int{core.Running: 2}, shown[:2]); got != "" {
		t.Errorf("%q where all is shown", got)
	}
}

// B-120
func TestColumnsAreTheParametersThatVary(t *testing.T) {
	look := func(v *varied, objects ...string) string {
		var rows [][]param
		for _, o := range objects {
			rows = append(rows, readParams([]byte(o), nil))
		}
		v.look(rows)
		return strings.Join(v.columns(), " ")
	}
	v := &varied{}
	for _, c := range []struct{ objects, want string }{
		{`{"a":1,"net":{"b":2,"c":[1,2]}}`, "a net/b net/c"},
		{`{"a":1,"net":{"b":3,"c":[1,2]}}`, "net/b"},
		{`{"a":1,"net":{"b":3,"c":[1,2]}}`, "net/b"}, // a column stays
		{`{"a":1,"net":{"b":3,"c":[1,2]}};{"a":1,"net":{"b":3}}`, "net/b net/c"},
		{`{"a":1,"broken`, "net/b net/c"},
	} {
		if got := look(v, strings.Split(c.objects, ";")...); got != c.want {
			t.Errorf("%s: %s, want %s", c.objects, got, c.want)
		}
	}
}

// Choices that look alike look different wherever parameters are shown, and trials that differ in them vary.
func TestChoicesThatLookAlike(t *testing.T) {
	told := naming.Tellers{"k": naming.Teller([][]byte{[]byte(`1`), []byte(`"1"`), []byte(`" "`), []byte(`{"a": 1}`)})}
	st, rows := running().Status(), running().Rows(5)[:3]
	for i, k := range []string{`1`, `"1"`, `{"a": 1}`} {
		rows[i].Params = fmt.Appendf(nil, `{"k": %s, "lr": 0.123456}`, k)
	}
	st.Best.Params = []byte(`{"k": " ", "lr": 0.123456}`)
	frame := strings.Join(screen{100, 24, false}.frame(st, rows, &varied{told: told}), "\n")
	for _, want := range []string{"  k  ", "  1  ", `  "1"  `, `  {"a":1}  `, `k=" "`} {
		if !strings.Contains(frame, want) {
			t.Errorf("no %q in\n%s", want, frame)
		}
	}
	e := view.Event{Kind: core.SawStarted, Trial: rows[1].Subject}
	e.Trial.Params = rows[1].Params
	line := New(running(), Options{Choices: told}).eventLine(&e)
	if !strings.HasSuffix(line, ` started · k="1" lr=0.1235`) {
		t.Error(line)
	}
	var end bytes.Buffer
	if err := Summary(&end, End{Status: st, Choices: told}); err != nil || !strings.Contains(end.String(), `k   " "`) ||
		!strings.Contains(end.String(), "lr  0.123456\n") {
		t.Errorf("%v\n%s", err, end.String())
	}
}

func TestTextFromTrialsCannotSteerTheTerminal(t *testing.T) {
	f := running()
	rows := f.Rows(5)
	rows[0].Params = []byte(`{"lr":"\u001b[2J\u001b]0;x\u0007a\nb","日本語":"模型模型模型模型模型模型模型模型模型模型"}`)
	st := f.Status()
	st.Objective.Metric = "acc\x1b[1A\n"
	st.Cause = core.TrainableFailure("it\r\nbroke\x1b[8m")
	text := strings.Join(screen{80, 30, false}.frame(st, rows, &varied{}), "")
	var end bytes.Buffer
	if err := Summary(&end, End{Status: st, Failed: failures(2), Dir: "results/digits"}); err != nil {
		t.Fatal(err)
	}
	text += strings.ReplaceAll(end.String(), "\n", "")
	if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }); i >= 0 {
		t.Errorf("%q", text[max(0, i-20):i+10])
	}
}

// B-078, B-123
func TestSummaries(t *testing.T) {
	for name, e := range map[string]End{
		"summary_finished": {Status: (&fake{planned: 100, done: 100, elapsed: 724 * time.Second,
			state: "finished"}).Status(), File: "digits.yaml"},
		"summary_failed": {Status: (&fake{planned: 100, done: 100, failed: 14, elapsed: 724 * time.Second,
			state: "finished"}).Status(), Failed: failures(12), File: "my digits.yaml"},
		"summary_interrupted": {Status: running().Status()},
		"summary_front": {Status: (&fake{planned: 40, done: 40, elapsed: 62 * time.Second,
			state: "finished"}).Status(), File: "digits.yaml", Front: front(12), Objectives: []string{"accuracy",
			"seconds"}, Below: true,
			URL: "s3://bucket/digits", Args: []string{"--set", "trials=40", "--set", "seed=1"}},
		"summary_stopped": {Status: view.Status{Name: "digits", State: "stopped",
			Cause: core.Cause{Kind: core.CauseUser}, Planned: 3}},
		"summary_unstarted": {Status: stopped(4), File: "digits.yaml"},
		"summary_budget":    {Status: late(stopped(4)), File: "digits.yaml", Args: []string{"--set", "budget.time=1s"}},
		"summary_resumed":   {Status: late(stopped(4))},
		"summary_early":     {Status: early(stopped(4), 1), File: "digits.yaml"},
		"summary_when":      {Status: whenHeld(), File: "digits.yaml"},
		"summary_several":   {Status: withFront(stopped(0)), Objectives: []string{"accuracy", "seconds"}},
		"summary_failures": {Status: tooManyFailed(), File: "digits.yaml",
			Args: []string{"--set", "budget.trials_failed=2"}},
		"summary_failures_resumed": {
			Status: tooManyFailed(),
		},
		"summary_no_front": {Status: stopped(0), Objectives: []string{"accuracy", "seconds"},
			Front: []view.Trial{}},
		"summary_hurry":   {Status: stopped(0), Objectives: []string{"accuracy", "seconds"}},
		"summary_nothing": {Status: (&fake{planned: 1, state: "stopped"}).Status(), File: "digits.yaml"},
		"summary_all_failed": {Status: (&fake{planned: 14, done: 14, failed: 14, elapsed: time.Second,
			state: "finished"}).Status(),
			Failed: failures(14), File: "digits.yaml"},
		"summary_plugin": {Status: view.Status{Name: "digits", State: "failed",
			Cause:   core.TrainableFailure("searcher \"mine\" failed 3 times"),
			Planned: 3}, File: "digits.yaml", OwnPlugins: true},
		"summary_refused": {Status: view.Status{Name: "digits", State: "failed",
			Cause:   core.Cause{Kind: core.CauseLeaseRefused, Text: "no such namespace"},
			Planned: 3}, File: "digits.yaml", OwnPlugins: true}, // the plugin is well
	} {
		e.Dir = "results/digits"
		if name == "summary_all_failed" {
			e.Status.Best = nil
		}
		if name == "summary_interrupted" {
			n := e.Status.Counts[core.Running]
			e.Status.Begun = view.Begun{Trials: n, Resumable: n}
			e.Status.State, e.Status.Cause = "interrupted", core.Cause{Kind: core.CauseInterrupted}
		}
		var out bytes.Buffer
		if err := Summary(&out, e); err != nil {
			t.Fatal(err)
		}
		golden(t, name, out.String())
	}
}

// late has used up its time budget.
func late(st view.Status) view.Status {
	st.Elapsed, st.Budget = 1, 1
	return st
}

// tooManyFailed is an experiment that its budget of failed trials has ended.
func tooManyFailed() view.Status {
	st := stopped(1)
	st.State, st.Cause = "finished", core.Cause{Kind: core.CauseFailedBudget}
	st.Counts[core.Errored], st.Failures = 2, 2
	return st
}

// whenHeld is an experiment that budget.when has ended.
func whenHeld() view.Status {
	st := (&fake{planned: 9, done: 6, state: "finished"}).Status()
	st.Cause = core.Cause{Kind: core.CauseBudgetExpression, Text: "best < 1"}
	return st
}

// early is an experiment of which so many trials were stopped early.
func early(st view.Status, n int) view.Status {
	st.StoppedEarly = n
	return st
}

// stopped is an experiment of 9 trials, with so many that never started.
func stopped(unstarted int) view.Status {
	st := (&fake{planned: 9, done: 6, state: "stopped"}).Status()
	st.NeverStarted = unstarted
	return st
}

// While trials end, the screen says what ends or holds the experiment, and what the user can do.
// B-024, B-120
func TestPhases(t *testing.T) {
	f := running()
	for _, c := range []struct {
		ending string
		why    core.Cause
		paused bool
		runs   int
		want   string
	}{
		{want: "running", runs: 2},
		{ending: "interrupted", why: core.Cause{Kind: core.CauseInterrupted}, runs: 2,
			want: "interrupting (grace 10s)"},
		{ending: "interrupted", why: core.Cause{Kind: core.CauseInterrupted}, want: "interrupting"},
		{ending: "stopped", why: core.Cause{Kind: core.CauseUser}, runs: 1,
			want: "stopping (stopped by the user, grace 10s)"},
		{ending: "finished", why: core.Cause{Kind: core.CauseTimeBudget}, runs: 1,
			want: "ending (the time budget is used up, grace 10s)"},
		{ending: "failed", why: core.TrainableFailure("it crashed"), want: "failing (it crashed)"},
		{paused: true, runs: 1, want: "pausing"},
		{paused: true, want: "paused"},
		{paused: true, ending: "interrupted", runs: 1, want: "interrupting (grace 10s)"},
	} {
		st := f.Status()
		st.Ending, st.Cause, st.Paused, st.Grace, st.Hint = c.ending, c.why, c.paused, 10*time.Second, "what to do"
		st.Counts[core.Running] = c.runs
		lines := screen{100, 30, false}.frame(st, nil, &varied{})
		if !strings.HasPrefix(lines[0], "digits · "+c.want+" · 12m04s") || lines[1] != "what to do" {
			t.Errorf("%+v: found\n%s\n%s", c, lines[0], lines[1])
		}
		if line, _ := statusLine(st); !strings.Contains(line, "· "+c.want+" · what to do · ") {
			t.Errorf("%+v: found %s", c, line)
		}
	}
}

// front returns n trials of a Pareto front.
func front(n int) (list []view.Trial) {
	for i := range n {
		list = append(list, view.Trial{Subject: view.Subject{Number: core.TrialNo(2 * i), Params: params(i)},
			Metrics: []view.Metric{{Name: "accuracy", Value: 0.5 + float64(i)/100}, {Name: "seconds",
				Value: float64(10 + i)}}})
	}
	return list
}

func started(no core.TrialNo) view.Event {
	return view.Event{Kind: core.SawStarted, Trial: view.Subject{Number: no, Attempt: 1, Params: params(int(no))}}
}

func result(no core.TrialNo, iteration uint64) view.Event {
	return view.Event{Kind: core.SawResult, Trial: view.Subject{Number: no},
		Result: &view.Report{Iteration: iteration, TimeTotal: 75,
			Metrics: []view.Metric{{Name: "loss", Value: 1.0 / 3}, {Name: "accuracy", Value: 0.5}}}}
}

// B-122
func TestVerbosity(t *testing.T) {
	events := []view.Event{started(1), result(1, 1), result(1, 2), started(2), result(2, 1),
		{Kind: core.SawFailed, Reason: "exit status 1\nboom", Trial: view.Subject{Number: 2}},
		{Kind: core.SawCheckpoint, Trial: view.Subject{Number: 1}},
		{Kind: core.SawCompleted, Reason: "completed", Trial: view.Subject{Number: 3}}}
	for v := Silent; v <= All; v++ {
		var out bytes.Buffer
		f := running()
		f.events = events
		p := New(f, Options{Out: &out, Verbosity: v})
		p.Draw()
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		golden(t, fmt.Sprintf("verbosity_%d", v), out.String())
	}
}

// B-120
func TestAPlainLineEachTimeSomethingChanged(t *testing.T) {
	f := running()
	var out bytes.Buffer
	p := New(f, Options{Out: &out, Verbosity: Brief})
	count := func() int { return strings.Count(out.String(), "\n") }
	p.Draw()
	for range sameLines {
		f.elapsed += lineEvery
		p.Draw()
	}
	if count() != 1 {
		t.Errorf("%d lines where nothing changed", count())
	}
	p.Draw()
	f.done++
	p.Draw()
	if count() != 3 {
		t.Errorf("%d lines, want 3:\n%s", count(), out.String())
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("control sequences in what is no terminal")
	}
}

// An experiment that was stopped when all its trials were over has nothing to continue.
func TestNothingToContinue(t *testing.T) {
	for done, want := range map[int]bool{3: true, 4: false} {
		var b bytes.Buffer
		status := (&fake{planned: 4, done: done, state: "stopped"}).Status()
		if err := Summary(&b, End{Status: status, Dir: "results/digits", File: "digits.yaml"}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "continue with the 1 trial not yet made"); got != want ||
			strings.Contains(b.String(), "where it stopped") {
			t.Errorf("%d of 4 over: %v\n%s", done, got, b.String())
		}
	}
}

// B-078: messages that differ only in the trial's own directory are shown once.
func TestSameFailureInOtherPlaces(t *testing.T) {
	var failed []view.Subject
	for no := range core.TrialNo(3) {
		dir := fmt.Sprintf("/results/x/trials/%05d_a", no)
		failed = append(failed, view.Subject{Number: no, Dir: dir,
			Error: "exit status 2: cannot open " + dir + "/data"})
	}
	if groups := sameMessage(failed); len(groups) != 1 || len(groups[0].trials) != 3 {
		t.Errorf("%d groups, want one of 3 trials", len(groups))
	}
	failed[1].Error = "killed"
	if groups := sameMessage(failed); len(groups) != 2 {
		t.Errorf("%d groups, want 2", len(groups))
	}
}

func withFront(st view.Status) view.Status {
	st.Front = 2
	return st
}

// Of several objectives no trial is the best by the first one alone.
func TestSeveralObjectivesHaveNoBestTrial(t *testing.T) {
	st := (&fake{planned: 4, done: 3}).Status()
	st.Several, st.Front = true, 2
	st.Best = &view.Ranked{Value: 1}
	line, _ := statusLine(st)
	frame := screen{width: 100, height: 30}.best(st, &varied{})
	if strings.Contains(line, "best ") || !strings.Contains(line, "2 trials that no other beats") ||
		frame != "2 trials that no other beats" {
		t.Errorf("%q, %q", line, frame)
	}
}

// On a narrow terminal what a command does is below it, and not in the middle of it.
func TestNarrowSummary(t *testing.T) {
	lines := func(width int) string {
		t.Helper()
		var out strings.Builder
		if err := Summary(&out, End{Status: view.Status{Name: "x", State: "interrupted"},
			Dir: "results/実験", File: "実験.yaml", Width: width}); err != nil {
			t.Fatal(err)
		}
		_, next, _ := strings.Cut(out.String(), "next")
		return next
	}
	const run = "tunehost run 実験.yaml"
	for width, want := range map[int]string{
		40: "    tunehost trials results/実験\n          all trials\n        " + run + "\n          continue where it " +
			"stopped\n",
		52: "    tunehost trials results/実験  all trials\n        " + run + "\n          continue where it stopped\n",
		80: "    tunehost trials results/実験  all trials\n        " + run + "        continue where it stopped\n",
	} {
		if got := lines(width); got != want {
			t.Errorf("%d wide:\n%s\nwant\n%s", width, got, want)
		}
	}
	if lines(0) != lines(80) {
		t.Error("in a pipe, the width matters")
	}
}

// A trial that failed before it ever started has no folder, and so no file with its message.
func TestFailureWithoutAFolder(t *testing.T) {
	e := End{Status: (&fake{planned: 1, done: 1, failed: 1, elapsed: time.Second, state: "finished"}).Status(),
		Failed: failures(1), File: "digits.yaml"}
	for _, attempt := range []uint32{1, 0} {
		e.Failed[0].Attempt = attempt
		var out bytes.Buffer
		if err := Summary(&out, e); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "error.txt") != (attempt > 0) {
			t.Errorf("after %d attempts:\n%s", attempt, &out)
		}
	}
}
