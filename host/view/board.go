package view

import (
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/storage"
)

const (
	// boardRows is how many trials of each state are kept for display.
	boardRows = 32
	// boardEvery is how often the board is written at most; writing takes at most one part in boardShare
	// of the loop's time.
	boardEvery = 100 * time.Millisecond
	boardShare = 20
)

// Board has the state of a running experiment for readers that look several times a second. The host's
// loop writes it; readers get the last state that was written, and never wait for the loop.
type Board struct {
	BoardOptions

	mu     sync.Mutex
	status Status
	rows   []Trial
	next   time.Time
	phase  phase // as written
	left   bool
}

// phase is what the user must see immediately when it changes.
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
	// State is the loop's state.
	State *State
	// Elapsed returns the running time now.
	Elapsed func() time.Duration
	Clock   clock.Clock
	// Hint returns what the user can do now; nil: nothing special.
	Hint func(Status) string
	// Lacks returns what the host waits for on its disk; nil: nothing.
	Lacks func() storage.Lack
	// Planned is how many trials there will be, until the first write.
	Planned int64
}

// NewBoard returns an empty board.
func NewBoard(o BoardOptions) *Board {
	f := o.State.Facts
	return &Board{BoardOptions: o, status: Status{Name: f.Name, Dir: f.Place(), State: Running,
		Grace:   f.Config.StopGrace,
		Planned: o.Planned, Spent: Spent{Budget: f.Config.Budget.Time},
		Quality: Quality{Objective: f.Objectives()[0], Several: len(f.Config.Objectives) > 1}}}
}

// Status returns the status that was written last.
func (b *Board) Status() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.status
	if s.State == Running {
		s.pass(b.Elapsed())
		if b.Lacks != nil {
			s.lacks(b.Lacks())
		}
	}
	if b.Hint != nil {
		s.Hint = b.Hint(s)
	}
	return s
}

// Rows returns at most so many trials of each state, in brief: see [State.Rows].
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

// Leave says that the host is leaving now, whatever is running. Nothing is written any more.
func (b *Board) Leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.status.State == Running {
		b.status.Elapsed = b.Elapsed()
		b.status.markInterrupted()
	}
	b.left = true
}

// Write puts the state on the board, unless it was written recently and nothing has happened that the
// user must see immediately. It returns how long it would wait before the next write; 0 if it wrote.
// The loop calls it.
func (b *Board) Write(always bool) (wait time.Duration) {
	started := b.Clock.Now()
	now := phaseOf(b.State.Machine)
	if !always && b.phase == now && started.Before(b.next) {
		return b.next.Sub(started)
	}
	b.phase = now
	status, rows := b.State.CurrentStatus(), b.State.Rows(boardRows)
	b.mu.Lock()
	if !b.left {
		b.status, b.rows = status, rows
	}
	b.mu.Unlock()
	b.next = b.Clock.Now().Add(max(boardEvery, boardShare*b.Clock.Since(started)))
	return 0
}

// Rows returns a short form of trials, at most perState of each state: the first ones that run or wait,
// and the last ones in other states.
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
