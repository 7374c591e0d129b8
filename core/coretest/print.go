package coretest

import (
	"fmt"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
)

var saw = map[core.ObservationKind]string{
	core.SawAdded: "added", core.SawStarted: "started", core.SawResult: "result", core.SawPaused: "paused",
	core.SawCompleted: "completed", core.SawFailed: "failed", core.SawRemoved: "removed",
	core.SawCheckpoint: "checkpoint", core.SawRequeued: "requeued", core.SawEnd: "end",
	core.SawSearchEnded: "search ended",
}

func audience(to core.Audience) string {
	if to == core.ToAll {
		return "all"
	}
	var names []string
	for _, x := range []struct {
		to   core.Audience
		name string
	}{{core.ToSearcher, "searcher"}, {core.ToScheduler, "scheduler"}, {core.ToReporters, "reporters"}} {
		if to&x.to != 0 {
			names = append(names, x.name)
		}
	}
	return strings.Join(names, "+")
}

func (s *Story) print(a core.Action) string {
	switch a := a.(type) {
	case core.AskSearcher:
		return fmt.Sprintf("ask searcher for %d from %d\n", a.Count, a.First)
	case *core.Tell:
		return printTold(a.Observation)
	case core.StartAttempt:
		return s.printStart(a)
	case core.ContinueAttempt:
		return fmt.Sprintf("continue %d (%d)\n", a.Trial, a.Credits)
	case core.RunAhead:
		return fmt.Sprintf("%d may run ahead\n", a.Trial)
	case core.SaveAttempt:
		return fmt.Sprintf("save %d at %d as #%d\n", a.Trial, a.Iteration, a.ID)
	case core.TakeCheckpoint:
		text := strings.ReplaceAll(fmt.Sprintf("take %d's checkpoint %s at %d as #%d", a.Trial, a.Path, a.Iteration,
			a.ID), "  ", " ")
		if a.Again {
			text += " again"
		}
		if a.Rebooted {
			text += ", if it has lasted"
		}
		return text + "\n"
	case core.StopAttempt:
		if a.Memory {
			return fmt.Sprintf("stop %d, holding #%d in memory\n", a.Trial, a.SaveID)
		}
		if a.SaveID != 0 {
			return fmt.Sprintf("stop %d, saving as #%d\n", a.Trial, a.SaveID)
		}
		return fmt.Sprintf("stop %d\n", a.Trial)
	case core.KillAttempt:
		return fmt.Sprintf("kill %d\n", a.Trial)
	case core.DropState:
		return fmt.Sprintf("drop %d's #%d from memory\n", a.Trial, a.ID)
	case core.DeleteCheckpoint:
		return fmt.Sprintf("delete %d's checkpoint #%d\n", a.Trial, a.ID)
	case core.RequestLease:
		return fmt.Sprintf("request lease %d for %s: %s\n", a.Lease, printFor(a.For), a.Request)
	case core.ReleaseLease:
		return fmt.Sprintf("release lease %d\n", a.Lease)
	case core.AdoptLeases:
		return printAdopt(a)
	case core.JudgeBudget:
		return "judge the budget\n"
	case core.SetTimer:
		return fmt.Sprintf("timer at %s\n", time.Duration(a.At))
	case core.Warn:
		if a.HasTrial {
			return fmt.Sprintf("warn of %d: %s\n", a.Trial, printCause(&a.Cause))
		}
		return "warn: " + printCause(&a.Cause) + "\n"
	case core.Finish:
		return strings.TrimSpace(fmt.Sprintf("finish: %s %s", a.Outcome, printCause(&a.Cause))) + "\n"
	}
	return fmt.Sprintf("%#v\n", a)
}

// printCause prints a cause for people, followed by its kind unless the text says it all.
func printCause(c *core.Cause) string {
	kind := strings.ReplaceAll(c.Kind.String(), "_", " ")
	if text := c.String(); text != kind {
		return fmt.Sprintf("%s [%s]", text, kind)
	}
	return kind
}

func printTold(o core.Observation) string {
	text := fmt.Sprintf("tell %s: %d %s", audience(o.To), o.Trial, saw[o.Kind])
	if o.Kind == core.SawEnd || o.Kind == core.SawSearchEnded {
		text = fmt.Sprintf("tell %s: %s", audience(o.To), saw[o.Kind])
	}
	if o.Learned {
		text = fmt.Sprintf("tell %s: %d of another experiment %s", audience(o.To), o.Trial, saw[o.Kind])
	}
	if o.Runs > 0 {
		text = fmt.Sprintf("tell %s: %d to %d together %s", audience(o.To), o.Trial, uint32(o.Trial)+o.Runs-1,
			saw[o.Kind])
	}
	if o.Iteration > 0 {
		text += fmt.Sprintf(" at %d", o.Iteration)
	}
	for _, flag := range []struct {
		on   bool
		text string
	}{{o.Due, "to decide"}, {o.Again, "again"}, {o.Last, "last"}} {
		if flag.on {
			text += ", " + flag.text
		}
	}
	if o.Kind == core.SawEnd {
		text += ": " + o.Outcome.String()
	}
	if o.Cause != nil {
		text += ": " + printCause(o.Cause)
	}
	return text + "\n"
}

func (s *Story) printStart(a core.StartAttempt) string {
	text := fmt.Sprintf("start %d attempt %d", a.Trial, a.Attempt)
	if a.Lease != 0 {
		text += fmt.Sprintf(" with lease %d", a.Lease)
	}
	text += s.printSlots(a.Placement.Slots)
	if a.Placement.Beyond {
		text += " beyond the free resources"
	}
	switch {
	case a.Restore.Trial == core.NoTrial:
		text += fmt.Sprintf(" from the checkpoint given, at %d", a.Restore.Iteration)
	case a.Restore.ID != 0:
		text += fmt.Sprintf(" from %d's #%d at %d", a.Restore.Trial, a.Restore.ID, a.Restore.Iteration)
	}
	if a.Memory {
		text += " in memory"
	}
	return text + "\n"
}
