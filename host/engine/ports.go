package engine

import (
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/clock"
)

// Ports are what an engine stands on. They are given once, when the engine is made. The
// engine calls all but Clock and Recorder from the goroutine that turns it, and they
// return soon.
type Ports struct {
	Clock     clock.Clock
	Recorder  Recorder
	Searcher  Searcher
	Scheduler Scheduler
	Executor  Executor
	Publisher Publisher
	Store     Store
	Timer     Timer
	// Listeners hear of events and actions; there may be none.
	Listeners []Listener
}

// Recorder keeps what happened.
type Recorder interface {
	// Append keeps records as one: all of them or none are there after a
	// crash. journal.ErrNoSpace: the disk is full, try again later.
	Append(records [][]byte) (first uint64, err error)
	// Sync returns when all that was appended would survive a loss of power.
	Sync() error
	Close() error
}

// Searcher suggests trials. What it is told and asked is carried out in that order.
type Searcher interface {
	Tell(core.Observation)
	Ask(core.AskSearcher)
	// Flush is called at the end of each step.
	Flush()
}

// Scheduler decides on results. An observation that is due waits for a decision.
type Scheduler interface {
	Tell(core.Observation)
	// Flush is called at the end of each step.
	Flush()
}

// Executor runs attempts: it carries out every action about an attempt.
type Executor interface {
	Do(core.Action)
	// Flush is called at the end of each step.
	Flush()
}

// Publisher tells people and reporters.
type Publisher interface {
	// Hear is called for each event that was applied, before its actions are carried out. The step is valid during the
	// call only.
	Hear(*history.Step)
	Warn(core.Warn)
	// Flush is called at the end of each step.
	Flush()
}

// Store keeps the files of trials.
type Store interface {
	Delete(core.DeleteCheckpoint)
}

// Timer posts core.Ticked to the inbox at a running time in nanoseconds. A new time
// replaces the one before.
type Timer interface {
	Set(at int64)
}

// Listener hears what happens, before the ports act on it.
type Listener interface {
	// Applied is called for each event after the machine took it, and before the
	// actions that it caused.
	Applied(core.Event)
	// Doing is called for each action before a port gets it.
	Doing(core.Action)
}
