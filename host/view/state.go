package view

import (
	"slices"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/naming"
)

// State is an experiment after an event: its machine, and what else readers need. It is for one
// goroutine at a time.
type State struct {
	*Facts
	// Machine is read-only.
	Machine *core.Machine

	record *history.History
	// last has results that a machine's summaries do not show: those without a metric that the trial had
	// reported before.
	last map[core.TrialNo]lastResult
	// resultAt is how long each running trial had trained at its last result, in nanoseconds, plus one; 0: it
	// has none.
	resultAt []int64
	// nodes are where the last attempts of trials ran.
	nodes places
	// left says that no host runs the experiment: what runs in the record has run.
	left bool
	questions
	// standing is of the first objective.
	standing Standing
}

// lastResult is the last of a trial's results that count.
type lastResult struct {
	iteration uint64
	metrics   []core.Metric
}

// NewState returns the state before anything was read.
func NewState(f *Facts, h *history.History) *State {
	return &State{Facts: f, Machine: h.Machine(), record: h, last: map[core.TrialNo]lastResult{}}
}

// Did updates the state by an action of the last event.
func (s *State) Did(a core.Action) {
	s.noteQuestion(a)
	switch a := a.(type) {
	case core.StartAttempt:
		s.rewind(a.Trial)
		if slots := a.Placement.Slots; len(slots) > 0 {
			s.nodes.put(a.Trial, s.Machine.NodeName(slots[0].Node))
		}
	case *core.Tell:
		if a.Observation.Learned { // its trial is not in the machine
			return
		}
		switch a.Observation.Kind {
		case core.SawResult:
			s.noteResult(&a.Observation)
			s.trained(a.Observation.Trial, 1+s.Machine.TrainNS(a.Observation.Trial))
		case core.SawPaused, core.SawCompleted, core.SawFailed, core.SawRemoved, core.SawRequeued:
			s.trained(a.Observation.Trial, 0)
		}
	}
}

// trained sets resultAt of a trial.
func (s *State) trained(no core.TrialNo, at int64) {
	if n := int(no) + 1 - len(s.resultAt); n > 0 {
		s.resultAt = append(s.resultAt, make([]int64, n)...)
	}
	s.resultAt[no] = at
}

// Noted is Did for all actions of an event.
func (s *State) Noted(actions []core.Action) {
	for _, a := range actions {
		s.Did(a)
	}
}

// rewind forgets the last result of a restarted trial if the trial will report it again. Its values are
// then the ones that the machine has kept with the checkpoint (B-061). Before RulesV2 the result stayed visible.
func (s *State) rewind(no core.TrialNo) {
	if s.Machine.Spec().Rules < core.RulesV2 {
		return
	}
	if last, ok := s.last[no]; ok && last.iteration != s.Machine.View(no).Iteration {
		delete(s.last, no)
	}
}

func (s *State) noteResult(o *core.Observation) {
	if s.summarized(o) {
		delete(s.last, o.Trial)
		return
	}
	s.last[o.Trial] = lastResult{o.Iteration, slices.Clone(o.Metrics)}
}

// summarized reports whether the last values in the machine's summaries are exactly the result: this
// holds if each result has the same metrics in the same order. Before RulesV2 the machine did not keep
// them apart.
func (s *State) summarized(o *core.Observation) bool {
	return s.Machine.Spec().Rules >= core.RulesV2 && s.Machine.Summarizes(o.Trial, o.Metrics)
}

// metrics returns the metrics of a trial's last result. An objective that this lacks has its last value, by which the
// trial is compared.
func (s *State) metrics(no core.TrialNo) []Metric {
	if last, ok := s.last[no]; ok {
		list := named(s.Machine, last.metrics)
		for _, o := range s.Objectives() {
			if x, ok := s.Machine.Summary(no, s.Machine.Metric(o.Metric)); ok && s.lacks(no, o.Metric) {
				list = withMetric(list, Metric{o.Metric, x.Last})
			}
		}
		return list
	}
	out := []Metric{}
	if s.Machine.Spec().Rules >= core.RulesV2 {
		s.Machine.EachSummary(no, func(id core.MetricID, x stat.Summary) {
			out = append(out, Metric{s.Machine.MetricName(id), x.Last})
		})
		slices.SortStableFunc(out, byName)
	}
	return out
}

// lacks reports whether a trial's last result is without a metric that the trial has reported.
func (s *State) lacks(no core.TrialNo, metric string) bool {
	last, ok := s.last[no]
	id := s.Machine.Metric(metric)
	return ok && !slices.ContainsFunc(last.metrics, func(x core.Metric) bool { return x.ID == id })
}

func named(m *core.Machine, list []core.Metric) []Metric {
	out := make([]Metric, 0, len(list))
	for _, x := range list {
		out = append(out, Metric{m.MetricName(x.ID), x.Value})
	}
	slices.SortStableFunc(out, byName)
	return out
}

// wall returns the time of day at a running time; the zero time before any host.
func (s *State) wall(at int64) time.Time {
	ns, ok := s.record.Wall(at)
	if !ok {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

// wallBy returns the time of day at a running time by the clock of one host.
func (s *State) wallBy(host int, at int64) time.Time {
	ns, ok := s.record.WallBy(host, at)
	if !ok {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

// Entries returns the number of the last entry of the record.
func (s *State) Entries() uint64 { return s.record.Number() }

// Trials returns the number of trials.
func (s *State) Trials() int { return s.Machine.Trials() }

// Trial returns a trial, which must exist.
func (s *State) Trial(no core.TrialNo) Trial {
	t := s.Brief(no)
	v, dir := s.Machine.View(no), s.TrialDir(no)
	t.Dir = s.trialPlace(dir)
	if v.Own.ID != 0 {
		t.CheckpointAt = v.Own.Iteration
		if s.elsewhere == nil {
			t.Checkpoint = s.filesOf(v.Own)
		}
	}
	for _, x := range s.Machine.Exports(no) {
		made := exportOf(x, dir)
		if s.elsewhere != nil {
			made.Dir = ""
		}
		t.Exports = append(t.Exports, made)
	}
	return t
}

// Brief returns a trial without the places of its files, which cost the most.
func (s *State) Brief(no core.TrialNo) Trial {
	v := s.Machine.View(no)
	t := Trial{Subject: Subject{Number: no, ID: s.id(no), State: v.State, Attempt: v.Attempt, Since: v.Since,
		Params: v.Params},
		Metrics: s.metrics(no), Iteration: v.Iteration, Results: v.Results, Failures: v.Failures,
		NeverStarted: v.NeverStarted, Node: s.nodes.of(no), WasRunning: s.wasRunning(v.State),
		StoppedEarly: isEarly(&v), Cause: v.Cause, Reason: v.Cause.String(), Seconds: float64(v.TrainNS) / 1e9}
	first, runs := s.Machine.Runs(no)
	t.Suggestion, t.Runs = int(first)/runs, runs
	if v.State == core.Errored {
		t.Error = t.Reason
	}
	if v.Attempt > 0 {
		t.Started = s.wall(v.Started)
	}
	if v.State.Final() {
		t.Ended = s.wall(v.Ended)
	}
	return t
}

// wasRunning reports whether a trial in this state ran when its host ended, and no host runs the experiment now, on
// this machine or another.
func (s *State) wasRunning(state core.State) bool {
	return state == core.Running && s.left && s.runsOn == ""
}

// TrialDir returns a trial's directory, of several the last.
func (s *State) TrialDir(no core.TrialNo) string { return s.dirAt(no, s.Machine.Dirs(no)) }

// dirAt returns one of the directories that a trial has had.
func (s *State) dirAt(no core.TrialNo, moved int) string {
	return s.Dir.Trial(naming.Dir(s.Config, s.Seed, uint32(no), s.Machine.FirstParams(no), moved))
}

// CheckpointDir returns the directory of a trial's checkpoint.
func (s *State) CheckpointDir(ref core.CheckpointRef) string {
	return storage.CheckpointDir(s.dirAt(ref.Trial, s.Machine.DirOf(ref.Trial, ref.ID)), ref.ID)
}

func (s *State) filesOf(ref core.CheckpointRef) string { return storage.FilesOf(s.CheckpointDir(ref)) }

// Find returns the trial that a user names by number or id.
func (s *State) Find(text string) (core.TrialNo, error) {
	no, err := naming.Find(text, s.Seed, s.Machine.Trials())
	return core.TrialNo(no), err
}

// MetricNames returns the names that any trial has reported, sorted.
func (s *State) MetricNames() []string {
	m := s.Machine
	names := make([]string, 0, m.Metrics())
	for id := 1; id <= m.Metrics(); id++ {
		names = append(names, m.MetricName(core.MetricID(id)))
	}
	slices.Sort(names)
	return names
}
