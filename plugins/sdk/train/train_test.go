package train

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// The shared suite of the host's transports tests what runs do; these tests need internals.

func TestBrokenProtocol(t *testing.T) {
	wait := sdk.TrainFunc(func(ctx context.Context, _ sdk.Run) error { <-ctx.Done(); return nil })
	s := NewSession(wait, sdk.TrainableTraits{Shared: true})
	if err := s.Send([]Command{{Kind: Start}}); err == nil {
		t.Error("a start without a trial is taken")
	}
	start := Command{Kind: Start, Run: 1, Trial: &sdk.Trial{}}
	if err := s.Send([]Command{start, start}); err == nil {
		t.Error("a run is started twice")
	}
	s.Close()
	s.Wait()
	if err := s.Send(nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// A trainable that logs without pause blocks until the consumer reads, and is released at the end.
func TestFloodWaits(t *testing.T) {
	ended := make(chan bool)
	flood := sdk.TrainFunc(func(ctx context.Context, run sdk.Run) error {
		defer close(ended)
		for ctx.Err() == nil {
			run.Log("x")
		}
		return nil
	})
	s := NewSession(flood, sdk.TrainableTraits{})
	if err := s.Send([]Command{{Kind: Start, Run: 1, Trial: &sdk.Trial{}}}); err != nil {
		t.Fatal(err)
	}
	for total := 0; total < 3*maxQueued; {
		events, err := s.Recv()
		if err != nil || len(events) > maxQueued {
			t.Fatal(len(events), err)
		}
		total += len(events)
	}
	s.Close()
	<-ended
	for {
		if _, err := s.Recv(); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			return
		}
	}
}

func TestTextIsCut(t *testing.T) {
	if got := cut(strings.Repeat("x", 10*maxText)); len(got) > maxText+10 {
		t.Fatal(len(got))
	}
	if got := cut("a\xffb"); got != "a\uFFFDb" {
		t.Fatal(got)
	}
}

// A reporter may reuse its slice while the event is still queued.
func TestMetricsAreCopied(t *testing.T) {
	s := NewSession(sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
		m := []sdk.Metric{{Name: "loss", Value: 1}}
		err := run.Report(sdk.Result{Metrics: m}, nil)
		m[0].Value = 2
		return err
	}), sdk.TrainableTraits{})
	trial := &sdk.Trial{RunAhead: 5}
	if err := s.Send([]Command{{Kind: Start, Run: 1, Trial: trial}}); err != nil {
		t.Fatal(err)
	}
	s.Wait()
	events, err := s.Recv()
	if err != nil || len(events) != 3 || events[1].Metrics[0].Value != 1 {
		t.Fatal(events, err)
	}
}

// A trial is told whether it will continue later: in the answer to its report, and between two
// reports.
func TestPausedIsTold(t *testing.T) {
	for _, paused := range []bool{false, true} {
		told := make(chan error, 1)
		between := make(chan bool, 1)
		s := NewSession(sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
			err := run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "loss", Value: 1}}}, nil)
			told <- err
			between <- run.(sdk.Pauser).Paused()
			return err
		}), sdk.TrainableTraits{})
		if err := s.Send([]Command{{Kind: Start, Run: 1, Trial: &sdk.Trial{}},
			{Kind: Stop, Run: 1, Paused: paused}}); err != nil {
			t.Fatal(err)
		}
		s.Wait()
		if err := <-told; !errors.Is(err, sdk.ErrStopped) || errors.Is(err, sdk.ErrPaused) != paused {
			t.Errorf("paused %v: Report answered %v", paused, err)
		}
		if got := <-between; got != paused {
			t.Errorf("Paused is %v, want %v", got, paused)
		}
	}
}

// B-080: the answer to a result that meets a stop follows its record, however late the stop was or the record is. If
// the host ends before, there is no answer.
func TestAnswerFollowsRecord(t *testing.T) {
	paused := Command{Kind: Stop, Run: 1, Paused: true}
	credit := Command{Kind: Continue, Run: 1, Credits: 1}
	answers := paused
	answers.Credits = 1
	for how, c := range map[string]struct {
		before, after []Command // the result
		want          error
	}{
		"the stop answers it":           {nil, []Command{answers}, sdk.ErrPaused},
		"it meets the stop":             {nil, []Command{paused, credit}, sdk.ErrPaused},
		"it meets the stop and a kill":  {nil, []Command{paused, {Kind: Kill, Run: 1}}, sdk.ErrKilled},
		"it meets the end of the host":  {nil, []Command{paused}, sdk.ErrKilled},
		"the stop came first":           {[]Command{paused}, []Command{credit}, sdk.ErrPaused},
		"the stop came first, then end": {[]Command{paused}, nil, sdk.ErrKilled},
	} {
		t.Run(how, func(t *testing.T) {
			told, begun := make(chan error, 2), make(chan struct{})
			s := NewSession(sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
				<-begun
				told <- run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "loss", Value: 1}}}, nil)
				told <- run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "loss", Value: 2}}}, nil)
				return sdk.ErrStopped
			}), sdk.TrainableTraits{})
			start := Command{Kind: Start, Run: 1, Trial: &sdk.Trial{}, Confirms: true}
			if err := s.Send(append([]Command{start}, c.before...)); err != nil {
				t.Fatal(err)
			}
			close(begun)
			reported(t, s, 1)
			if err := s.Send(c.after); err != nil {
				t.Fatal(err)
			}
			if c.want == sdk.ErrKilled {
				s.Close()
			}
			if err := <-told; !errors.Is(err, c.want) || errors.Is(err, sdk.ErrPaused) != (c.want == sdk.ErrPaused) {
				t.Errorf("Report answered %v, want %v", err, c.want)
			}
			if err := <-told; !errors.Is(err, c.want) {
				t.Errorf("the next one was answered with %v, want %v", err, c.want)
			}
			s.Close()
			s.Wait()
		})
	}
}

// The last result needs no answer; one who waits for its record learns whether it has one.
func TestRecordOfTheLastResult(t *testing.T) {
	for _, recorded := range []bool{true, false} {
		told := make(chan error, 1)
		s := NewSession(sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
			if err := run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "loss"}}, Done: true}, nil); err != nil {
				return err
			}
			told <- run.(sdk.Confirmer).Recorded()
			return nil
		}), sdk.TrainableTraits{})
		if err := s.Send([]Command{{Kind: Start, Run: 1, Trial: &sdk.Trial{}, Confirms: true}}); err != nil {
			t.Fatal(err)
		}
		reported(t, s, 1)
		if recorded {
			if err := s.Send([]Command{{Kind: Continue, Run: 1, Credits: 1}}); err != nil {
				t.Fatal(err)
			}
		} else {
			s.Close()
		}
		if err := <-told; errors.Is(err, sdk.ErrKilled) == recorded {
			t.Errorf("recorded %v: %v", recorded, err)
		}
		s.Close()
		s.Wait()
	}
}

// reported waits for results.
func reported(t *testing.T, s *Session, n int) {
	t.Helper()
	for n > 0 {
		events, err := s.Recv()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Kind == Result {
				n--
			}
		}
	}
}

// Where the host is gone, or kills the trial, nobody has answered the result; a stop that came before is one.
func TestKilledIsNoStop(t *testing.T) {
	for how, end := range map[string]func(s *Session) error{
		"gone":   func(s *Session) error { s.Close(); return nil },
		"killed": func(s *Session) error { return s.Send([]Command{{Kind: Kill, Run: 1}}) },
		"stopped before": func(s *Session) error {
			return s.Send([]Command{{Kind: Stop, Run: 1}, {Kind: Kill, Run: 1}})
		},
	} {
		told, exported := make(chan error, 1), make(chan bool, 1)
		s := NewSession(sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
			sdk.ExportWith(run, func(string, string) error { exported <- true; return nil })
			err := run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "loss", Value: 1}}}, nil)
			told <- err
			return err
		}), sdk.TrainableTraits{})
		trial := &sdk.Trial{Export: []string{"a"}, ExportDir: t.TempDir()}
		if err := s.Send([]Command{{Kind: Start, Run: 1, Trial: trial}}); err != nil {
			t.Fatal(err)
		}
		for heard := 0; heard < 2; { // it has started, and has reported
			events, err := s.Recv()
			if err != nil {
				t.Fatal(err)
			}
			heard += len(events)
		}
		if err := end(s); err != nil {
			t.Fatal(err)
		}
		s.Wait()
		err := <-told
		if !errors.Is(err, sdk.ErrStopped) || errors.Is(err, sdk.ErrKilled) != (how != "stopped before") {
			t.Errorf("%s: Report answered %v", how, err)
		}
		if len(exported) > 0 {
			t.Errorf("%s: it exports a model", how)
		}
	}
}

// B-060: a successful trial exports its model in each format; one that fails or is paused does not,
// and a format that fails does not fail the trial.
func TestExport(t *testing.T) {
	dir := t.TempDir()
	trial := &sdk.Trial{Export: []string{"a", "b", "c"}, ExportDir: dir}
	for how, c := range map[string]struct {
		end  error
		stop *Command
		want string
	}{
		"by itself":   {want: "a= b=panic: no b c=the trainable does not know this format"},
		"in an error": {end: errors.New("diverged")},
		"paused":      {end: sdk.ErrPaused, stop: &Command{Kind: Stop, Run: 1, Paused: true}},
		"stopped": {end: sdk.ErrStopped, stop: &Command{Kind: Stop, Run: 1},
			want: "a= b=panic: no b c=the trainable does not know this format"},
		"killed":         {end: sdk.ErrStopped, stop: &Command{Kind: Kill, Run: 1}},
		"ended, paused":  {stop: &Command{Kind: Stop, Run: 1, Paused: true}, want: ""},
		"failed in stop": {end: errors.New("no"), stop: &Command{Kind: Stop, Run: 1}},
	} {
		t.Run(how, func(t *testing.T) {
			s := NewSession(sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
				sdk.ExportWith(run, exportA)
				if c.stop != nil {
					<-run.(sdk.Stopper).Stopped()
				}
				return c.end
			}), sdk.TrainableTraits{})
			defer s.Close()
			commands := []Command{{Kind: Start, Run: 1, Trial: trial}}
			if c.stop != nil {
				commands = append(commands, *c.stop)
			}
			if err := s.Send(commands); err != nil {
				t.Fatal(err)
			}
			if got := exportsOf(t, s); got != c.want {
				t.Errorf("%q, not %q", got, c.want)
			}
		})
	}
}

// If the trial's directory is replaced by a link while it runs, no model is made behind the link, and nothing is
// removed there.
func TestExportBehindALink(t *testing.T) {
	home, others := filepath.Join(t.TempDir(), "home"), t.TempDir()
	theirs := filepath.Join(others, "export", "a", "precious")
	err := errors.Join(os.Mkdir(home, 0o700), os.MkdirAll(filepath.Dir(theirs), 0o700),
		os.WriteFile(theirs, nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	s := NewSession(sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
		sdk.ExportWith(run, exportA)
		return errors.Join(os.Remove(home), os.Symlink(others, home))
	}), sdk.TrainableTraits{})
	defer s.Close()
	trial := &sdk.Trial{Export: []string{"a"}, ExportDir: filepath.Join(home, "export")}
	if err := s.Send([]Command{{Kind: Start, Run: 1, Trial: trial}}); err != nil {
		t.Fatal(err)
	}
	if got := exportsOf(t, s); !strings.Contains(got, "links are not followed") {
		t.Errorf("%q", got)
	}
	list, err := os.ReadDir(filepath.Dir(theirs))
	if err != nil || len(list) != 1 || list[0].Name() != "precious" {
		t.Error(list, err)
	}
}

func exportA(format, dir string) error {
	switch format {
	case "a":
		return os.WriteFile(filepath.Join(dir, "model"), []byte("weights"), 0o600)
	case "b":
		panic("no b")
	}
	return sdk.ErrUnknownFormat
}

// exportsOf returns the exports of a run until its end.
func exportsOf(t *testing.T, s *Session) string {
	t.Helper()
	var list []string
	for {
		events, err := s.Recv()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			switch e.Kind {
			case Exported:
				list = append(list, e.Format+"="+e.Error)
			case Ended:
				return strings.Join(list, " ")
			}
		}
	}
}

// Results that a run reports after it was paused are sent if a checkpoint follows: it continues from
// there, and without them the record would have a gap.
func TestResultsBeforeTheLastCheckpoint(t *testing.T) {
	s := NewSession(sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
		<-run.(sdk.Stopper).Stopped()
		for _, dir := range []string{"", "", "final", ""} {
			if err := run.Report(sdk.Result{Checkpoint: dir}, nil); err != sdk.ErrPaused {
				t.Errorf("Report answered %v", err)
			}
		}
		for range 3 * maxFinal {
			_ = run.Report(sdk.Result{}, nil)
		}
		_ = run.Report(sdk.Result{Checkpoint: "later"}, nil)
		return sdk.ErrPaused
	}), sdk.TrainableTraits{})
	defer s.Close()
	if err := s.Send([]Command{{Kind: Start, Run: 1, Trial: &sdk.Trial{}},
		{Kind: Stop, Run: 1, Paused: true}}); err != nil {
		t.Fatal(err)
	}
	if taken := checkpointsOf(t, s); !slices.Equal(taken, []string{"", "", "final", "later"}) {
		t.Errorf("the host heard of %q", taken)
	}
}

// B-150: a checkpoint that is reported after a stop reaches the host; a result without one does
// not.
func TestCheckpointAfterStop(t *testing.T) {
	s := NewSession(sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
		<-run.(sdk.Stopper).Stopped()
		for _, dir := range []string{"", "final"} {
			if err := run.Report(sdk.Result{Checkpoint: dir}, nil); err != sdk.ErrStopped {
				t.Errorf("Report answered %v", err)
			}
		}
		return sdk.ErrStopped
	}), sdk.TrainableTraits{})
	defer s.Close()
	if err := s.Send([]Command{{Kind: Start, Run: 1, Trial: &sdk.Trial{}}, {Kind: Stop, Run: 1}}); err != nil {
		t.Fatal(err)
	}
	if taken := checkpointsOf(t, s); !slices.Equal(taken, []string{"final"}) {
		t.Errorf("the host heard of %q", taken)
	}
}

// Events that several runs push one after the other go into one message. A round fails if drain did
// not wait yet when the first came, which is rare.
func TestEventsGather(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that runs take turns
	const runs, rounds = 16, 10
	whole := 0
	for range rounds {
		q := NewQueue()
		got := make(chan int)
		go func() {
			events, _ := q.Drain()
			got <- len(events)
		}()
		runtime.Gosched() // drain waits
		for run := range uint64(runs) {
			go q.Push(Event{Kind: Result, Run: run})
		}
		if <-got == runs {
			whole++
		}
	}
	if whole < rounds/2 {
		t.Errorf("the first message had all %d events in %d of %d rounds", runs, whole, rounds)
	}
}

// checkpointsOf returns the checkpoints of all results of a run, "" for those without.
func checkpointsOf(t *testing.T, s *Session) (taken []string) {
	for {
		events, err := s.Recv()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			switch e.Kind {
			case Result:
				taken = append(taken, e.Checkpoint)
			case Ended:
				return taken
			}
		}
	}
}
