package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/analysis"
)

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status DIR",
		Short:   "Where an experiment stands",
		Example: "  tunehost status results/digits",
		Args:    wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.with(args[0], func(e *analysis.Experiment) error {
				s, err := e.Status(a.now())
				switch {
				case err != nil:
					return err
				case asJSON:
					return a.line(s)
				}
				return a.writeStatus(a.out, &s, e)
			})
		},
	}
	jsonFlag(cmd.Flags(), &asJSON, "print a JSON object")
	return cmd
}

func (a *app) writeStatus(w io.Writer, s *analysis.Status, e *analysis.Experiment) error {
	head := fmt.Sprintf("%s: %s", s.Name, s.State)
	if s.Host != "" && s.State == analysis.Running {
		head += " on " + s.Host
	}
	switch {
	case strings.HasPrefix(s.Reason, s.State+" "):
		head = s.Name + ": " + firstLine(s.Reason)
	case s.Reason != "" && s.Reason != s.State:
		head += " (" + firstLine(s.Reason) + ")"
	}
	t := &table{}
	t.column("", false)
	t.column("", false)
	add := func(name, text string) { t.rows = append(t.rows, []string{name, text}) }
	add("trials", counts(s))
	if len(s.Resources) > 0 {
		var parts []string
		for _, u := range s.Resources {
			parts = append(parts, u.String())
		}
		add("resources", strings.Join(parts, ", "))
	}
	add("time", seconds(s.Elapsed.Seconds()))
	switch {
	case s.Best != nil:
		add("best", fmt.Sprintf("%s %s: %s", e.Objectives()[0].Metric, number(s.Best.Value), rankedTitle(s.Best)))
	case s.Front > 0:
		add("best", fmt.Sprintf("%s that no other beats; `tunehost best` lists them", plural(s.Front, "trial")))
	}
	add("files", s.Dir)
	if s.State == analysis.Interrupted {
		next := "`tunehost resume " + shellWord(s.Dir) + "` goes on"
		if s.Counts[core.Running] > 0 {
			next += "; what was RUNNING starts from its last checkpoint"
		}
		add("next", next)
	}
	if _, err := fmt.Fprintln(w, a.bold(head)); err != nil {
		return err
	}
	return t.write(w, 0, a.bold) // paths are for copying: never cut
}
