package engine

import (
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/clock"
)

// Ports are what an engine works with. They are set once, when the engine is made. The engine calls
// all but Clock and Recorder from its own goroutine, and they return soon.
type Ports struct {
	Clock     clock.Clock
	Recorder  Recorder
	Searcher  Searcher
	Scheduler Scheduler
	Executor  Executor
	Granter   Granter
	Publisher Publisher
	Store     Store
	Timer     Timer
	// Listeners are told of events and actions; there may be none.
	Listeners []Listener
}

// Recorder keeps what happened.
type Recorder interface {
	// Append keeps records as one: after a crash all of them exist or none. journal.ErrNoSpace: the disk
	// is full, try again later.
	Append(records [][]byte) (first uint64, err error)
	// Sync returns when all that was appended would survive a loss of power.
	Sync() error
	Close() error
}

// Searcher suggests trials. It is told and asked in the order of the calls.
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

// Executor runs attempts: it carries out every action about an attempt. It gets core.ReleaseLease before the
// Granter does.
type Executor interface {
	Do(core.Action)
	// Flush is called at the end of each step.
	Flush()
}

// Confirmer is an Executor whose trials wait for the record of their results.
type Confirmer interface {
	// Recorded is called for each result that is in the record, before the resulting actions. saves says that the
	// trial is asked for a checkpoint of it.
	Recorded(r *core.ResultReported, saves bool)
}

// Granter asks an engine, such as a cluster's queue, for leases. The engine's answers go to the inbox.
// Hosts whose trials run on known nodes never call it.
type Granter interface {
	// Do carries out core.RequestLease, core.ReleaseLease and core.AdoptLeases, in the order of the calls.
	Do(core.Action)
	// Flush is called at the end of each step.
	Flush()
}

// NoGranter is the Granter of a host without an engine.
type NoGranter struct{}

// Do implements Granter.
func (NoGranter) Do(core.Action) {}

// Flush implements Granter.
func (NoGranter) Flush() {}

// Publisher informs users and reporters.
type Publisher interface {
	// Hear is called for each applied event, before its actions are carried out. The step is valid during
	// the call only.
	Hear(*history.Step)
	Warn(core.Warn)
	// Flush is called at the end of each step.
	Flush()
}

// Store keeps the files of trials.
type Store interface {
	Delete(core.DeleteCheckpoint)
}

// Timer posts core.Ticked to the inbox at a running time in nanoseconds. A new time replaces the
// previous one.
type Timer interface {
	Set(at int64)
}

// Listener is told what happens, before the ports act on it.
type Listener interface {
	// Applied is called for each event after the machine took it, and before the resulting actions.
	Applied(core.Event)
	// Doing is called for each action before a port gets it.
	Doing(core.Action)
}
