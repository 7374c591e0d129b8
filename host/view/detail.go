package view

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view/course"
)

// Detail is a trial with what only the page of one trial needs.
type Detail struct {
	Trial
	// Checkpoints are those that exist, the oldest first.
	Checkpoints []CheckpointPlace
	// Reasons say why it was paused, queued again or ended, and which trial it continues from, in order.
	Reasons []ReasonAt
	// Given is set for a trial that the searcher has not suggested.
	Given *GivenTrial
	// ErrorLines are the last lines that it printed to standard error, or to standard output if there is
	// nothing on the former; only for a trial that has failed.
	ErrorLines string
	// Request is the resources that it needs, as text.
	Request string
	// Rerun is the command that runs its program again, in a shell; "" if there is none.
	Rerun string
	// Pace is nil before the first result.
	Pace *Pace
}

// Pace tells a slow start from slow training.
type Pace struct {
	// First is how many seconds the attempt with the first result had run then: the start of its program, with what
	// that imports, and the first iteration. Attempts whose results do not count any more do not count either.
	First Float `json:"first_s"`
	// Next is how many seconds each later result took on average; null if there is none in an attempt with others.
	Next *Float `json:"next_s"`
}

// paceOf returns nil if a trial has no results.
func paceOf(p *Past, no core.TrialNo) *Pace {
	var x *Pace
	var before course.Result
	var sum, n float64
	for r := range p.Each(no) {
		switch {
		case x == nil:
			x = &Pace{First: Float(float64(r.At-beginning(p, no, r)) / 1e9)}
		case r.Attempt == before.Attempt:
			sum, n = sum+float64(r.Spent-before.Spent)/1e9, n+1
		}
		before = *r
	}
	if n > 0 {
		next := Float(sum / n)
		x.Next = &next
	}
	return x
}

// beginning is the running time at which the attempt with a result began.
func beginning(p *Past, no core.TrialNo, r *course.Result) int64 {
	for _, x := range p.Segments(no) {
		if x.Phase == course.Running && x.Attempt == r.Attempt {
			return x.From
		}
	}
	return r.At - r.Spent
}

// CheckpointPlace is a checkpoint of a trial.
type CheckpointPlace struct {
	ID        uint32 `json:"id"`
	Iteration uint64 `json:"iteration"`
	// Trial is the trial that made it: another one after a clone or an exploit.
	Trial core.TrialNo `json:"trial"`
	Dir   string       `json:"dir"`
}

// ReasonAt is a reason with its time.
type ReasonAt struct {
	Seconds Float      `json:"at_s"`
	Time    *time.Time `json:"time"`
	// State is the state that the trial was in then.
	State   string `json:"state"`
	Attempt uint32 `json:"attempt"`
	Reason  string `json:"reason"`
}

// detailJSON is the shape of a Detail.
type detailJSON struct {
	trialJSON
	Checkpoints []CheckpointPlace `json:"checkpoints"`
	Reasons     []ReasonAt        `json:"reasons"`
	Given       *GivenTrial       `json:"given,omitempty"`
	ErrorLines  string            `json:"error_lines,omitempty"`
	Request     string            `json:"request,omitempty"`
	Rerun       string            `json:"rerun,omitempty"`
	Pace        *Pace             `json:"pace,omitempty"`
}

// MarshalJSON writes the fields of the trial and those of a Detail.
func (d Detail) MarshalJSON() ([]byte, error) {
	return json.Marshal(detailJSON{d.shape(), d.Checkpoints, d.Reasons, d.Given, d.ErrorLines, d.Request, d.Rerun,
		d.Pace})
}

// Detail returns a trial, which must exist, with what only its page needs.
func (e *Experiment) Detail(no core.TrialNo) (d Detail, err error) {
	err = e.recall(func(s *State, p *Past) error {
		d = Detail{Trial: s.Trial(no), Checkpoints: []CheckpointPlace{}, Reasons: []ReasonAt{},
			Request: s.Machine.Request(no).String(), Pace: paceOf(p, no)}
		for _, ref := range s.Machine.Checkpoints(no) {
			if s.elsewhere == nil && ref.Trial != core.NoTrial {
				d.Checkpoints = append(d.Checkpoints, CheckpointPlace{ref.ID, ref.Iteration, ref.Trial, s.filesOf(ref)})
			}
		}
		d.Reasons = append(d.Reasons, s.reasons(p, no)...)
		if g, ok := p.GivenOf(no); ok {
			given := givenTrial(g)
			d.Given = &given
		}
		return nil
	})
	if err == nil && d.State == core.Errored {
		d.ErrorLines = e.lastLines(d.Dir)
	}
	return d, err
}

var stateOf = map[course.Phase]core.State{course.Queued: core.Pending, course.Running: core.Running,
	course.Saving: core.Running, course.Paused: core.Paused, course.Ended: core.Terminated}

// reasons returns why a trial was paused, queued again or ended.
func (s *State) reasons(p *Past, no core.TrialNo) (list []ReasonAt) {
	segments := p.Segments(no)
	for i, x := range segments {
		state := stateOf[x.Phase]
		if x.Phase == course.Ended && i == len(segments)-1 {
			state = s.Machine.State(no)
		}
		if why := p.Why(x); why != "" {
			list = append(list, ReasonAt{Seconds: Float(float64(x.From) / 1e9), Time: timeOrNull(s.wall(x.From)),
				State: state.String(), Attempt: x.Attempt, Reason: why})
		}
	}
	return list
}

// errorLines is how many lines of the output of a failed trial are shown, mostErrorText how many bytes.
const (
	errorLines    = 20
	mostErrorText = 8 << 10
)

// lastLines returns the last lines of the output of a trial. Files that cannot be read are no error: the reason
// of the failure is in the record.
func (e *Experiment) lastLines(dir string) string {
	stdout, stderr := e.Config.Log.Files()
	for _, name := range []string{stderr, stdout} {
		if name == "" || e.elsewhere != nil {
			continue
		}
		t, err := textOf(filepath.Join(dir, name), -mostErrorText, true)
		lines := bytes.Split(bytes.TrimRight(t.Lines, "\n"), []byte("\n"))
		if text := bytes.Join(lines[max(len(lines)-errorLines, 0):], []byte("\n")); err == nil && len(text) > 0 {
			return string(bytes.ToValidUTF8(text, []byte("\uFFFD")))
		}
	}
	return ""
}
