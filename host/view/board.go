package view

import (
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
)

const (
	// boardRows is how many trials of each state are kept to be shown.
	boardRows = 32
	// boardEvery is how often the board is written at most; it takes at most
	// one part in boardShare of the loop's time.
	boardEvery = 100 * time.Millisecond
	boardShare = 20
)

// Board shows where an experiment stands that a host runs, to those who look several
// times a second: the host's loop writes on it, anybody reads what was written last, and
// nobody waits for the loop.
type Board struct {
	BoardOptions

	mu     sync.Mutex
	status Status
	rows   []Trial
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
	// State is the loop's.
	State *State
	// Elapsed is the running time now.
	Elapsed func() time.Duration
	Clock   clock.Clock
	// Hint is what the user can do now; nil: nothing special.
	Hint func(Status) string
	// Planned is how many trials there will be, until something is written.
	Planned int64
}

// NewBoard is not written on yet.
func NewBoard(o BoardOptions) *Board {
	f := o.State.Facts
	return &Board{BoardOptions: o, status: Status{Name: f.Name, Dir: f.Place(), State: Running,
		Grace:   f.Config.StopGrace,
		Planned: o.Planned, Budget: f.Config.Budget.Time, Objective: f.Objectives()[0], Several: len(f.Config.Objectives) > 1}}
}

// Status is what was written last.
func (b *Board) Status() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.status
	if s.State == Running {
		s.Elapsed = b.Elapsed()
	}
	if b.Hint != nil {
		s.Hint = b.Hint(s)
	}
	return s
}

// Rows are at most so many trials of each state, in brief: see [State.Rows].
func (b *Board) Rows(perState int) []Trial {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := map[core.State]int{}
	var rows []Trial
	for _, r := range b.rows {
		if taken[r.State]++; taken[r.State] <= perState {
			rows = append(rows, r)
		}
	}
	return rows
}

// Leave says that the host is leaving now, whatever runs. Nothing is written any more.
func (b *Board) Leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.status.State == Running {
		b.status.Elapsed = b.Elapsed()
		b.status.leave()
	}
	b.left = true
}

// Write puts the state on the board, unless it was written just now and
// nothing has happened since that the user must see at once. It returns for how long it
// would not be written again; 0 if it was. The loop calls it.
func (b *Board) Write(always bool) (wait time.Duration) {
	started := b.Clock.Now()
	now := phaseOf(b.State.Machine)
	if !always && b.phase == now && started.Before(b.next) {
		return b.next.Sub(started)
	}
	b.phase = now
	status, rows := b.State.Standing(), b.State.Rows(boardRows)
	b.mu.Lock()
	if !b.left {
		b.status, b.rows = status, rows
	}
	b.mu.Unlock()
	b.next = b.Clock.Now().Add(max(boardEvery, boardShare*b.Clock.Since(started)))
	return 0
}

// Rows are trials in brief, at most so many of each state: of those that run or wait the
// first, of the others the last.
func (s *State) Rows(perState int) (rows []Trial) {
	left := map[core.State]int{}
	missing := 0
	for _, state := range States {
		left[state] = min(s.Machine.Count(state), perState)
		missing += left[state]
	}
	add := func(no core.TrialNo, first bool) {
		state := s.Machine.State(no)
		if first == (state == core.Pending || state == core.Running) && left[state] > 0 {
			left[state]--
			missing--
			rows = append(rows, s.Brief(no))
		}
	}
	n := s.Machine.Trials()
	for i := 0; i < n && missing > 0; i++ {
		add(core.TrialNo(n-1-i), false)
		add(core.TrialNo(i), true)
	}
	return rows
}
