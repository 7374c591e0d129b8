package view

import (
	"bytes"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view/course"
	"github.com/tunehost/tunehost/internal/lazily"
)

// Decisions are what the searcher and the scheduler have decided and said of that, and the trials that were none of
// these, all as of one moment. The reasons of single trials are theirs.
type Decisions struct {
	// Trials is how many trials there are.
	Trials int `json:"trials"`
	// Rungs are those of a [Space].
	Rungs []Rung `json:"rungs"`
	// StoppedByOthers is how many of the trials that were stopped early were not stopped by the scheduler, but by a
	// rule, the user or the end of the experiment.
	StoppedByOthers int `json:"stopped_by_others"`
	// Said are the lines of the searcher and the scheduler in host.log, in order.
	Said []Said `json:"said"`
	// LeftOut says that host.log or the lines are too long: some between the first and the last are left out.
	LeftOut bool `json:"left_out,omitempty"`
	// Given are the trials that the searcher has not suggested, the last ones at least.
	Given []GivenTrial `json:"given"`
}

// Said is a line of a plugin in host.log.
type Said struct {
	Time *time.Time `json:"time"`
	// Kind is searcher or scheduler, Name that of the plugin.
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Level string `json:"level"`
	Text  string `json:"text"`
}

// GivenTrial is a trial that the searcher has not suggested.
type GivenTrial struct {
	Number core.TrialNo `json:"number"`
	// By is file, if the experiment file has it, or user.
	By string `json:"by"`
	// Clone is the trial from whose checkpoint it starts.
	Clone *core.TrialNo `json:"clone,omitempty"`
}

const (
	// mostSaid is how many of the first and of the last lines of plugins there are.
	mostSaid = 50
	// mostGiven is how many given trials there are.
	mostGiven = 1000
)

// Decisions returns what is known of the decisions beside the reasons.
func (e *Experiment) Decisions() (x Decisions, err error) {
	x.Given = []GivenTrial{}
	if err := e.recall(func(s *State, p *Past) error {
		x.Trials, x.Rungs, x.StoppedByOthers = s.Machine.Trials(), rungs(p), stoppedByOthers(s.Machine)
		list := p.Given()
		for _, g := range list[max(len(list)-mostGiven, 0):] {
			x.Given = append(x.Given, givenTrial(g))
		}
		return nil
	}); err != nil {
		return x, err
	}
	x.Said, x.LeftOut, err = e.said()
	return x, err
}

// stoppedByOthers counts the trials that were stopped early, and not by the scheduler.
func stoppedByOthers(m *core.Machine) (n int) {
	for no := range core.TrialNo(m.Trials()) {
		if m.State(no) == core.Terminated && m.View(no).Cause.Kind != core.CauseScheduler {
			n += earlyOf(m, no, 1)
		}
	}
	return n
}

func givenTrial(g course.Given) GivenTrial {
	x := GivenTrial{Number: g.Trial, By: "file"}
	if g.Added {
		x.By = "user"
	}
	if g.Clone {
		x.Clone = &g.Donor
	}
	return x
}

// said looks at the beginning and at the end of the log.
func (e *Experiment) said() (list []Said, leftOut bool, err error) {
	if e.elsewhere != nil {
		return []Said{}, false, nil
	}
	first, err := e.Log(0)
	if err != nil {
		return []Said{}, false, err
	}
	list = saidIn(first.Lines)
	if last, err := e.Log(-mostText); err != nil {
		return list, false, err
	} else if from := last.Next - int64(len(last.Lines)); from >= first.Next {
		list, leftOut = append(list, saidIn(last.Lines)...), from > first.Next
	} else if last.Next > first.Next {
		list = append(list, saidIn(last.Lines[first.Next-from:])...)
	}
	if n := len(list); n > 2*mostSaid {
		list, leftOut = append(list[:mostSaid:mostSaid], list[n-mostSaid:]...), true
	}
	return list, leftOut, nil
}

// saidLine is a line of package hostlog that has a plugin: its fields follow the text.
var saidLine = lazily.Regexp(`^(\S+) \[([A-Z]+)\] +tunehost: (.*?)(?:: | )?plugin="(searcher|scheduler) ([^"]*)"`)

func saidIn(log []byte) []Said {
	list := []Said{}
	for line := range bytes.Lines(log) {
		m := saidLine().FindSubmatch(line)
		if m == nil {
			continue
		}
		one := Said{Kind: string(m[4]), Name: string(m[5]), Level: string(m[2]), Text: string(m[3])}
		if at, err := time.Parse(time.RFC3339Nano, string(m[1])); err == nil {
			one.Time = &at
		}
		list = append(list, one)
	}
	return list
}
