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
}

// MarshalJSON writes the fields of the trial and those of a Detail.
func (d Detail) MarshalJSON() ([]byte, error) {
	return json.Marshal(detailJSON{d.shape(), d.Checkpoints, d.Reasons, d.Given, d.ErrorLines, d.Request, d.Rerun})
}

// Detail returns a trial, which must exist, with what only its page needs.
func (e *Experiment) Detail(no core.TrialNo) (d Detail, err error) {
	err = e.recall(func(s *State, p *Past) error {
		d = Detail{Trial: s.Trial(no), Checkpoints: []CheckpointPlace{}, Reasons: []ReasonAt{},
			Request: s.Machine.Request(no).String()}
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
