package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/opening"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/view"
)

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status DIR",
		Short:   "Show the status of an experiment",
		Long:    "Show the status of an experiment: its state, its trials, the best trial, and what you can do next.",
		Example: "  tunehost status results/digits",
		Args:    wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.with(args[0], func(e *view.Recorded) error {
				s, err := e.Status(a.now())
				switch {
				case err != nil:
					return err
				case asJSON:
					return a.line(s)
				}
				note, err := e.NotFinite()
				if err != nil {
					return err
				}
				return a.writeStatus(a.out, &s, note, opening.UsesOwn(plugins, e.Config))
			})
		},
	}
	jsonFlag(cmd.Flags(), &asJSON, "print a JSON object")
	return cmd
}

func (a *app) writeStatus(w io.Writer, s *view.Status, note string, ownPlugins bool) error {
	var t statusTable
	t.column("", false)
	t.column("", false)
	t.add("trials", counts(s))
	t.add("resources", resources(s)...)
	if s.Leases != nil {
		t.add("leases", s.Leases.String())
	}
	t.add("overdue", overdue(s)...)
	t.add("waiting", nonEmpty(s.Waiting)...)
	t.add("time", elapsed(s))
	t.add("best", nonEmpty(bestSoFar(s))...)
	if note != s.NoBest {
		t.add("note", nonEmpty(note)...)
	}
	t.add("pending", pending(s)...)
	t.add("files", s.Dir)
	t.add("next", nextSteps(s, ownPlugins)...)
	if _, err := fmt.Fprintln(w, a.bold(statusHead(s))); err != nil {
		return err
	}
	return t.write(w, 0, a.bold) // paths are for copying: never cut
}

// statusTable has a name and a text in each row.
type statusTable struct{ table }

// add adds rows, of which only the first has the name.
func (t *statusTable) add(name string, texts ...string) {
	for _, text := range texts {
		t.rows = append(t.rows, []string{name, text})
		name = ""
	}
}

// nonEmpty returns the text, unless it is empty.
func nonEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// resources returns one line, or none.
func resources(s *view.Status) []string {
	var parts []string
	for _, u := range s.Resources {
		parts = append(parts, u.String())
	}
	return nonEmpty(strings.Join(parts, ", "))
}

// overdue returns a line for each plugin that does not answer.
func overdue(s *view.Status) (lines []string) {
	for _, late := range s.Overdue {
		lines = append(lines, fmt.Sprintf("%s %s has not answered for %s", late.Kind, late.Name, seconds(late.Seconds)))
	}
	return lines
}

// bestSoFar describes the best trial, or the number of those in the Pareto front; "" before the first result.
func bestSoFar(s *view.Status) string {
	switch {
	case s.Front > 0:
		return fmt.Sprintf("%s that no other beats; `tunehost best` lists them", plural(s.Front, "trial"))
	case s.Several:
		return ""
	case s.Best != nil:
		return fmt.Sprintf("%s %s: %s", s.Objective.Metric, number(s.Best.Value), rankedTitle(s.Best))
	case s.Reported:
		return s.NoBest
	}
	return ""
}

// pending returns a line for each setting that the next host will apply.
func pending(s *view.Status) (lines []string) {
	for _, x := range s.Pending {
		lines = append(lines, fmt.Sprintf("%s: %s -> %s, when the experiment is resumed", clean(x.Key), orNone(x.Old),
			orNone(x.New)))
	}
	return lines
}

// elapsed is the time that the experiment has run, and what is left of it.
func elapsed(s *view.Status) string {
	text := seconds(s.Elapsed.Seconds())
	if left := s.Left.String(); left != "" {
		text += ", " + left
	}
	return text
}

// statusHead describes the state of the experiment in a few words.
func statusHead(s *view.Status) string {
	state := s.State
	switch {
	case s.Ending != "":
		state = "running, to be " + s.Ending + " when its trials have ended"
	case s.Paused && s.State == view.Running && s.Counts[core.Running] > 0:
		state = "pausing"
	case s.Paused && s.State == view.Running:
		state = "paused"
	case s.Paused:
		state += ", paused"
	}
	if s.Host != "" && s.State == view.Running {
		state += " on " + s.Host
	}
	switch {
	case s.Ending == "" && s.Cause == core.Cause{Kind: core.CauseUser}: // the cause names the state, too
		return s.Name + ": " + firstLine(s.Reason)
	case s.Reason != "" && !s.Cause.Is(core.CauseInterrupted):
		state += " (" + firstLine(s.Reason) + ")"
	}
	return s.Name + ": " + state
}

// hasMore reports whether the experiment's plan has something left to do, except trials that never
// started.
func hasMore(s *view.Status) bool {
	return s.State == view.Interrupted || s.State == core.Failed.String() ||
		!s.Exhausted && (s.Planned < 0 || s.Made < s.Planned)
}

// unmet is what must be so before an experiment continues whose request was refused.
func unmet(s *view.Status) string {
	if s.Cause.Is(core.CauseLeaseRefused) {
		return "what was refused is corrected in FILE: resources, or options of the executor"
	}
	return "FILE requests no more than there is"
}

// raise returns the command that continues with larger budgets, and what they give; "": none is used up.
func raise(limits []view.Limit) (command, more string) {
	var sets, gives []string
	for _, l := range limits {
		sets, gives = append(sets, " --set "+l.Set()), append(gives, l.More)
	}
	if len(limits) > 0 {
		command = "tunehost run FILE" + strings.Join(sets, "")
	}
	return command, strings.Join(gives, " and ")
}

// continues names the command that continues an experiment whose budgets are not used up, and what happens then; "":
// there is none.
func continues(s *view.Status, dir string, ownPlugins bool) string {
	failed := s.State == core.Failed.String()
	switch {
	case s.Unmet():
		return "`tunehost run FILE` continues, once " + unmet(s)
	case s.State == view.Interrupted, failed:
		next := view.Resumer(s.Manual, dir) + " continues"
		if from := s.Restarts(); from != "" {
			next += "; what ran " + from
		}
		if ownPlugins && failed {
			next += "; with --accept-plugins once a plugin is repaired"
		}
		return next
	case s.Resumable:
		return view.Resumer(s.Manual, dir) + " continues with further trials" + s.OnceChanged()
	}
	return ""
}

// leftRunning names trials whose end no host has recorded.
func leftRunning(n int) string {
	if n == 1 {
		return "the trial that was RUNNING has ended"
	}
	return fmt.Sprintf("the %d trials that were RUNNING have ended", n)
}

// nextSteps returns the commands that continue the experiment.
func nextSteps(s *view.Status, ownPlugins bool) (list []string) {
	if s.State != view.Running && s.Waiting != "" {
		return nil // its host is still there
	}
	raised, more := raise(s.UsedUp())
	dir := untrusted.Word(s.Dir)
	switch {
	case raised == "":
		list = nonEmpty(continues(s, dir, ownPlugins))
	case s.State != view.Running && hasMore(s):
		list = append(list, "`"+raised+"` continues, with "+more)
	}
	if n := s.Counts[core.Running]; n > 0 && s.State != view.Interrupted && s.State != view.Running {
		list = append(list, view.Resumer(s.Manual, dir)+" records how "+leftRunning(n))
	}
	if s.Paused {
		next := "`tunehost unpause " + dir + "` continues"
		if s.State != view.Running {
			next = "`tunehost unpause " + dir + "`, once a host runs it: it is paused"
		}
		list = append(list, next)
	}
	if s.NeverStarted > 0 && s.State != view.Running && !s.Manual {
		again := "tunehost resume " + dir
		if raised != "" { // resume has no more of it
			again = raised
		}
		list = append(list, fmt.Sprintf("`%s --unstarted` runs the %s that never started", again,
			plural(s.NeverStarted, "trial")))
	}
	if s.Counts[core.Errored] > 0 && s.Manual && s.State != view.Running {
		list = append(list, "Retry in the dashboard of `tunehost serve` hands failed trials out again, and so does "+
			"`tunehost retry "+dir+" TRIAL` while `tunehost asktell` has the experiment")
	}
	return list
}
