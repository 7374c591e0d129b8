package main

import (
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/analysis"
)

// maxFailuresShown is how many failed trials are listed at the end of a run.
const maxFailuresShown = 10

// summarise says at the end of a run what came out of it (B-078, B-123).
func (a *app) summarise(ended host.Ended) error {
	return a.with(ended.Dir, func(e *analysis.Experiment) error {
		if err := a.summariseBest(e); err != nil {
			return err
		}
		a.listFailed(e)
		s, err := e.Status(a.now())
		if err != nil {
			return err
		}
		a.say("%s is %s after %s; files: %s", s.Name, ended.Outcome, seconds(s.Elapsed.Seconds()), s.Dir)
		if ended.Outcome == core.InterruptedByUser || ended.Outcome == core.Failed {
			a.say("go on with: tunehost resume %s", s.Dir)
		} else {
			a.say("see more with: tunehost trials %s", s.Dir)
		}
		return nil
	})
}

func (a *app) summariseBest(e *analysis.Experiment) error {
	if len(e.Objectives()) > 1 {
		if list := e.Front(analysis.Last); len(list) > 0 {
			return trialTable(e, list).write(a.out, a.width(), a.bold)
		}
		return nil
	}
	best, ok, err := e.Best(analysis.Query{})
	if err != nil || !ok {
		return err
	}
	return a.writeBest(a.out, e, &best, e.Objectives()[0].Metric)
}

// listFailed lists failed trials with their messages.
func (a *app) listFailed(e *analysis.Experiment) {
	m := e.Machine()
	shown := 0
	for no := range core.TrialNo(m.Trials()) {
		if m.State(no) != core.Errored {
			continue
		}
		if shown++; shown <= maxFailuresShown {
			t := e.Trial(no)
			fmt.Fprintf(a.err, "%s failed: %s\n", title(&t), t.Error)
		}
	}
	if more := shown - maxFailuresShown; more > 0 {
		fmt.Fprintf(a.err, "and %d more failed\n", more)
	}
}
