package life_test

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/attempt/life"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// TestStories tells the stories of testdata; -rewrite writes what they print.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &story{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(d) })
	})
}

// story is one attempt after the other.
type story struct{ l *life.Life }

// run carries out one command: it prints the actions that follow, and the move if there is one.
func (s *story) run(d *datadriven.TestData) string {
	if d.Cmd == "attempt" {
		o := life.Options{Trial: 0, Attempt: 1, Programs: d.HasArg("programs"), After: number(d, "after")}
		if a, ok := d.Arg("export"); ok {
			o.Export = a.Vals
		}
		s.l = life.New(o)
		return fmt.Sprintf("%v\n", s.l.State())
	}
	before, out := s.l.State(), ""
	switch d.Cmd {
	case "result":
		return s.result(d)
	case "grant":
		return fmt.Sprintf("gives the trainable %d\n", s.l.Grant(uint32(number(d, "credits"))))
	case "advance":
		return fmt.Sprintf("gives the trainable a credit: %t\n", s.l.Advance(number(d, "result")))
	}
	e := event(d)
	if e == nil {
		return "error: no such event\n"
	}
	for _, a := range s.l.Apply(e) {
		out += text(a) + "\n"
	}
	if after := s.l.State(); after != before {
		out += fmt.Sprintf("%v -> %v\n", before, after)
	}
	if out == "" {
		return "nothing\n"
	}
	return out
}

// result is what the driver does with one: it counts it, or finds that it makes no sense.
func (s *story) result(d *datadriven.TestData) string {
	if s.l.IgnoresEvents() {
		return "nothing\n"
	}
	x := sdk.Result{Iteration: number(d, "iteration"), Metrics: []sdk.Metric{{Name: "score"}}}
	if err := s.l.Take(&x); err != nil {
		return "no sense: " + err.Error() + "\n"
	}
	return fmt.Sprintf("takes result %d, of iteration %d\n", s.l.Reported(), s.l.Iteration())
}

func event(d *datadriven.TestData) life.Event {
	why := core.Cause{Kind: core.CauseInvalidReport, Text: word(d, "why")}
	save := life.Save{ID: uint32(number(d, "save")), Iteration: number(d, "iteration"), Memory: d.HasArg("memory")}
	if save.ID != 0 {
		save.Dir = fmt.Sprint("dir", save.ID)
	}
	switch d.Cmd {
	case "dir-ready":
		return life.DirReady{}
	case "dir-failed":
		why.Kind = core.CauseNoDirectory
		return life.DirFailed{End: core.AttemptEnded{Cause: why}}
	case "process":
		return life.Assigned{Warm: d.HasArg("warm")}
	case "no-process":
		return life.LaunchFailed{Error: word(d, "why"), NeverStarted: d.HasArg("never-started"),
			Unreachable: d.HasArg("cut")}
	case "started":
		return life.Started{PID: uint32(number(d, "pid"))}
	case "cannot-start-yet":
		return life.Started{Waiting: true}
	case "invalid-report":
		return life.InvalidReport{Cause: why}
	case "saved":
		return life.Saved{Iteration: number(d, "iteration"), Error: word(d, "why"), Full: d.HasArg("full")}
	case "exported":
		return life.Exported{Format: word(d, "as"), Error: word(d, "why")}
	case "finished":
		return life.Finished{Error: word(d, "why"), NeverStarted: d.HasArg("never-started"),
			RestoreFailed: d.HasArg("restore-failed"), Full: d.HasArg("full")}
	case "process-lost":
		return life.ProcessLost{Error: word(d, "why"), LastOutput: word(d, "words"), Short: d.HasArg("short"),
			Doomed: d.HasArg("doomed"), NeverStarted: d.HasArg("never-started")}
	case "save":
		save.ID, save.Dir = uint32(number(d, "id")), fmt.Sprint("dir", number(d, "id"))
		return life.SaveAsked{Save: save}
	case "save-impossible":
		return life.SaveImpossible{ID: uint32(number(d, "id")), Error: word(d, "why")}
	case "stop":
		return life.Stop{Paused: d.HasArg("paused"), Save: save}
	case "kill":
		return life.Kill{}
	case "wait-over":
		return life.WaitOver{}
	case "not-begun":
		why = core.Cause{Kind: core.CauseNotBegun, By: "mnist", NS: 60e9}
		return life.NotBegun{Cause: why, Others: d.HasArg("others")}
	case "silent":
		return life.Silent{Cause: core.Cause{Kind: core.CauseSilent, NS: 60e9}}
	case "export-made":
		return life.ExportMade{Format: word(d, "as"), Bytes: 100, Error: word(d, "why"),
			GivenUp: d.HasArg("given-up")}
	case "exports-cleared":
		return life.ExportsCleared{}
	case "host-closing":
		return life.HostClosing{}
	}
	return nil
}

func word(d *datadriven.TestData, name string) string {
	if a, ok := d.Arg(name); ok {
		return strings.Join(a.Vals, " ")
	}
	return ""
}

func number(d *datadriven.TestData, name string) uint64 {
	n, err := strconv.ParseUint(word(d, name), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// text is an action in words.
func text(a life.Action) string {
	switch a := a.(type) {
	case life.Launch:
		return "find or start a process"
	case life.CancelLaunch:
		return "cancel what it waits for to start"
	case life.Renew:
		return "start a fresh process: " + a.Why + flag(a.Retire, " (and let the old one go)")
	case life.Retry:
		return "start another process " + cmp.Or(flag(a.Full, "when there is room on the disk"), "after a moment")
	case life.Tell:
		return "tell the process: " + command(a.Command) + flag(a.Now, " (at once)")
	case life.WatchBegin:
		return "watch that it starts in time"
	case life.UnwatchBegin:
		return "watch its start no more"
	case life.Arm:
		return "wait for " + a.Wait.String()
	case life.Disarm:
		return "wait no more"
	case life.WarnGraceOver:
		return "tell the user: its program had all of its grace"
	case life.Replace:
		return "kill the process, which could not be reset"
	case life.Destroy:
		return "kill the process" + flag(a.Ignored, " (it ignored the order to stop)")
	case life.Commit:
		return "make checkpoint " + saving(a.Save) + " whole"
	case life.Hold:
		return "hold state " + saving(a.Save) + " in memory"
	case life.SaveAgain:
		return "ask for checkpoint " + saving(a.Save) + " again when there is room"
	case life.FailSave:
		return fmt.Sprintf("checkpoint %d will not come: %s", a.Save.ID, a.Error)
	case life.CommitExport:
		return "keep its model as " + a.Format
	case life.FailExport:
		return "no model as " + a.Format + flag(a.GivenUp, ", for now") + ": " + a.Error
	case life.ClearExports:
		return "remove its incomplete models"
	case life.Post:
		return "tell the core: " + news(a.Event)
	case life.Leave:
		return "leave the process"
	case life.Free:
		return "the process is free" + flag(a.Clean, ", and may take the next attempt")
	case life.End:
		return "tell the core: " + news(a.Event) + flag(a.Own, " (its own fault)")
	}
	return fmt.Sprintf("%T", a)
}

func news(e core.Event) string {
	switch e := e.(type) {
	case *core.AttemptStarted:
		return fmt.Sprintf("it has started, as process %d", e.PID)
	case *core.SaveFailed:
		return fmt.Sprintf("checkpoint %d will not come: %s", e.ID, e.Error)
	case *core.ModelExported:
		return fmt.Sprintf("its model is there as %s, %d bytes", e.Format, e.Bytes)
	case *core.AttemptEnded:
		return "it has ended" + ended(e)
	}
	return fmt.Sprintf("%T", e)
}

func ended(e *core.AttemptEnded) string {
	out := flag(e.Interrupted, ", interrupted") + flag(e.NeverStarted, ", never started") +
		flag(e.RestoreFailed, ", its checkpoint could not be loaded")
	if e.Cause.Kind != core.CauseNone {
		out += ": " + e.Cause.String()
	}
	return out
}

func command(c train.Command) string {
	switch c.Kind {
	case train.Start:
		return "start"
	case train.Save:
		return "save in " + c.Dir
	case train.Stop:
		return "stop" + flag(c.Paused, ", to continue later") + flag(c.Dir != "", ", and save in "+c.Dir)
	case train.Kill:
		return "kill it"
	}
	return fmt.Sprint("command ", c.Kind)
}

func saving(s life.Save) string {
	return fmt.Sprintf("%d, of iteration %d,", s.ID, s.Iteration)
}

func flag(is bool, text string) string {
	if is {
		return text
	}
	return ""
}
