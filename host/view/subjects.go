package view

import "github.com/tunehost/tunehost/core"

// Subjects makes Subjects of trials for events. It makes the name of a directory once for each trial
// that runs. It is for one goroutine.
type Subjects struct {
	state *State
	dirs  map[core.TrialNo]subjectDir // of trials that have not ended
}

// subjectDir is a directory, after moved others.
type subjectDir struct {
	moved int
	path  string
}

// NewSubjects returns the subjects of a state.
func NewSubjects(s *State) *Subjects { return &Subjects{s, map[core.TrialNo]subjectDir{}} }

// Of returns a trial.
func (x *Subjects) Of(no core.TrialNo) Subject {
	v := x.state.Machine.View(no)
	t := Subject{Number: no, ID: x.state.id(no), Dir: x.Dir(no), State: v.State, Attempt: v.Attempt, Params: v.Params,
		Since: v.Since}
	if v.State == core.Errored {
		t.Error = v.Reason()
	}
	return t
}

// Dir returns a trial's directory, of several the last: its name has the parameters that it was
// created with.
func (x *Subjects) Dir(no core.TrialNo) string {
	moved := x.state.Machine.Dirs(no)
	if known, ok := x.dirs[no]; ok && known.moved == moved {
		return known.path
	}
	path := x.state.dirAt(no, moved)
	if x.state.Machine.State(no).Final() {
		delete(x.dirs, no)
		return path
	}
	x.dirs[no] = subjectDir{moved, path}
	return path
}

// DirAt returns one of the directories that a trial has had: the one after so many others.
func (x *Subjects) DirAt(no core.TrialNo, moved int) string { return x.state.dirAt(no, moved) }

// DirOf returns the one that holds a checkpoint.
func (x *Subjects) DirOf(no core.TrialNo, checkpoint uint32) string {
	if moved := x.state.Machine.DirOf(no, checkpoint); moved != x.state.Machine.Dirs(no) {
		return x.state.dirAt(no, moved)
	}
	return x.Dir(no)
}
