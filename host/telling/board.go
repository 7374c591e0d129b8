package telling

import (
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/report"
	"github.com/tunehost/tunehost/host/report/terminal"
	"github.com/tunehost/tunehost/host/view"
)

const (
	// boardRows is how many trials of each state are kept to be shown.
	boardRows = 64
	// boardEvery is how often the board is written at most; it takes at most
	// one part in boardShare of the loop's time.
	boardEvery = 100 * time.Millisecond
	boardShare = 20
)

// Board shows where the experiment stands. The loop writes on it, whoever wants
// reads it.
type Board struct {
	BoardOptions

	mu     sync.Mutex
	status report.Status
	rows   []terminal.Row
	next   time.Time
	phase  phase // as it was written
	left   bool
}

// phase is what the user must see at once when it changes.
type phase struct {
	outcome, ending core.Outcome
	paused          bool
}

func phaseOf(m *core.Machine) phase {
	outcome, _ := m.Outcome()
	ending, _ := m.Ending()
	return phase{outcome, ending, m.Paused()}
}

// BoardOptions say what a Board shows.
type BoardOptions struct {
	Machine *core.Machine
	// Trial is what is said of a trial, Running the running time now.
	Trial   func(core.TrialNo) report.Trial
	Running func() time.Duration
	Clock   clock.Clock
	// Hint is what the user can do now.
	Hint func(report.Status) string
	// Begin is shown until something is written.
	Begin report.Status
}

// NewBoard is not written on yet.
func NewBoard(o BoardOptions) *Board { return &Board{BoardOptions: o, status: o.Begin} }

var _ terminal.Source = (*Board)(nil)

// Status implements terminal.Source.
func (b *Board) Status() report.Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.status
	if s.State == view.Running {
		s.Elapsed = b.Running()
	}
	if b.Hint != nil {
		s.Hint = b.Hint(s)
	}
	return s
}

// Rows implements terminal.Source.
func (b *Board) Rows(perState int) []terminal.Row {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := map[core.State]int{}
	var rows []terminal.Row
	for _, r := range b.rows {
		if taken[r.State]++; taken[r.State] <= perState {
			rows = append(rows, r)
		}
	}
	return rows
}

// Rest says that nobody looks: only who insists has it written from here on.
func (b *Board) Rest() { b.next = time.Unix(1<<40, 0) }

// Leave says that the host is leaving now, whatever runs. Nothing is written any more.
func (b *Board) Leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.status.State == view.Running {
		b.status.Elapsed = b.Running()
		b.status.State, b.status.Cause = leftAs(&b.status)
		b.status.Ending = ""
	}
	b.left = true
}

// leftAs is the state of an experiment whose host leaves before it has ended: what was
// ending for good does not go on.
func leftAs(s *report.Status) (state string, why core.Cause) {
	if s.Ending == core.StoppedByUser.String() || s.Ending == core.Finished.String() {
		return s.Ending, s.Cause
	}
	return view.Interrupted, core.Cause{}
}

// Write puts the machine's state on the board, unless it was written just now and
// nothing has happened since that the user must see at once. It returns for how long it
// would not be written again; 0 if it was.
func (b *Board) Write(always bool) (wait time.Duration) {
	started := b.Clock.Now()
	now := phaseOf(b.Machine)
	if !always && b.phase == now && started.Before(b.next) {
		return b.next.Sub(started)
	}
	b.phase = now
	status, rows := b.standing(), b.list()
	b.mu.Lock()
	if !b.left {
		b.status, b.rows = status, rows
	}
	b.mu.Unlock()
	b.next = b.Clock.Now().Add(max(boardEvery, boardShare*b.Clock.Since(started)))
	return 0
}

func (b *Board) standing() report.Status {
	m := b.Machine
	s := b.status
	s.Counts, s.Made, s.Planned = map[core.State]int{}, int64(m.Trials()), view.Planned(m)
	for _, state := range view.States {
		s.Counts[state] = m.Count(state)
	}
	outcome, why := m.Outcome()
	s.State, s.Cause = outcome.String(), why
	s.NeverStarted, s.Paused = m.NeverStarted(), m.Paused()
	s.Ending = ""
	if ending, why := m.Ending(); ending != 0 && outcome == 0 {
		s.Ending, s.Cause = ending.String(), why
	}
	s.Objective, s.Resources, s.Elapsed = m.Spec().Objectives[0], m.Usage(), time.Duration(m.Now())
	if no, value, ok := view.Best(m, s.Objective, view.Last); ok {
		s.Best = &report.Best{Trial: b.Trial(no), Value: value}
		if _, runs := m.Runs(no); runs > 1 {
			s.Best.Runs = runs
		}
	} else {
		s.Best, s.NoBest = nil, view.NoValue(m, s.Objective.Metric)
	}
	return s
}

// list has of the trials that run or wait the first, of the others the last.
func (b *Board) list() (rows []terminal.Row) {
	left := map[core.State]int{}
	missing := 0
	for _, s := range view.States {
		left[s] = min(b.Machine.Count(s), boardRows)
		missing += left[s]
	}
	add := func(no core.TrialNo, first bool) {
		s := b.Machine.State(no)
		if first == (s == core.Pending || s == core.Running) && left[s] > 0 {
			left[s]--
			missing--
			rows = append(rows, b.row(no))
		}
	}
	n := b.Machine.Trials()
	for i := 0; i < n && missing > 0; i++ {
		add(core.TrialNo(n-1-i), false)
		add(core.TrialNo(i), true)
	}
	return rows
}

func (b *Board) row(no core.TrialNo) terminal.Row {
	v := b.Machine.View(no)
	r := terminal.Row{Number: no, State: v.State, Params: v.Params, Iteration: v.Iteration, Time: time.Duration(v.TrainNS)}
	objective := b.Machine.Spec().Objectives[0]
	if s, ok := b.Machine.Summary(no, b.Machine.Metric(objective.Metric)); ok {
		r.Value, r.Reported = s.Last, true
	}
	return r
}
