package life

// reaction carries out an event and returns the next state.
type reaction func(*Life, Event) State

type row [kinds]reaction

// on turns a method for one kind of event into a reaction.
func on[E Event](f func(*Life, E) State) reaction {
	return func(l *Life, e Event) State { return f(l, e.(E)) }
}

// placed says what events do in all states with a process, unless the state's own row differs.
var placed = row{
	started:        on((*Life).startLate),
	invalidReport:  on((*Life).refuse),
	saved:          on((*Life).answerSave),
	exported:       on((*Life).export),
	exportMade:     on((*Life).exportMade),
	finished:       on((*Life).finish),
	processLost:    on((*Life).losesProcess),
	saveAsked:      on((*Life).askSave),
	saveImpossible: on((*Life).failSave),
	stop:           on((*Life).stopAgain),
	silent:         on((*Life).silent),
	hostClosing:    on((*Life).closeHost),
}

// table says what events do in each state. In states with a process, an empty cell means the cell
// of placed. If that cell is empty too, the event comes too late and does nothing.
var table = [states]row{
	Preparing: {
		dirReady:       on((*Life).launch),
		dirFailed:      on((*Life).failDir),
		stop:           on((*Life).cancel),
		saveAsked:      on((*Life).askSave),
		saveImpossible: on((*Life).failSave),
		hostClosing:    on((*Life).closeHost),
	},
	Launching: {
		assigned:       on((*Life).start),
		launchFailed:   on((*Life).failLaunch),
		exportMade:     on((*Life).exportMade),
		stop:           on((*Life).cancel),
		saveAsked:      on((*Life).askSave),
		saveImpossible: on((*Life).failSave),
		hostClosing:    on((*Life).closeHost),
	},
	Canceled: {
		dirReady:       on(func(l *Life, _ DirReady) State { return l.endAsTold() }),
		dirFailed:      on(func(l *Life, _ DirFailed) State { return l.endAsTold() }),
		launchFailed:   on(func(l *Life, _ LaunchFailed) State { return l.endAsTold() }),
		assigned:       on((*Life).startCanceled),
		exportMade:     on((*Life).exportMade),
		waitOver:       on(func(l *Life, _ WaitOver) State { return l.waitOn() }),
		kill:           on(func(l *Life, _ Kill) State { return l.waitOn() }),
		stop:           on((*Life).cancelAgain),
		saveAsked:      on((*Life).askSave),
		saveImpossible: on((*Life).failSave),
		hostClosing:    on((*Life).closeHost),
	},
	Starting: {
		started:     on((*Life).begin),
		notBegun:    on((*Life).giveUp),
		processLost: on((*Life).losesProcessEarly),
		stop:        on((*Life).stop),
	},
	Waiting: {
		started:     on((*Life).begin),
		processLost: on((*Life).losesProcessEarly),
		stop:        on((*Life).stop),
	},
	Running: {
		started: on((*Life).begin),
		stop:    on((*Life).stop),
	},
	Stopping: {
		waitOver: on((*Life).killAfterGrace),
		kill:     on(func(l *Life, _ Kill) State { return l.kill() }),
	},
	Killing: {
		waitOver: on((*Life).force),
		kill:     on(func(l *Life, _ Kill) State { return l.kill() }),
	},
	Overdue: {
		waitOver: on((*Life).force),
		kill:     on((*Life).killOverdue),
	},
	Abandoned: {
		waitOver: on(func(l *Life, _ WaitOver) State { return l.endAsTold() }),
		kill:     on(func(l *Life, _ Kill) State { return l.kill() }),
	},
	Dying: {
		invalidReport: on((*Life).refuseDying),
		processLost:   on(func(l *Life, _ ProcessLost) State { return l.end(l.last) }),
		silent:        on(func(l *Life, _ Silent) State { return Dying }),
	},
	Exporting: {
		exportMade:     on((*Life).exportMadeLate),
		exportsCleared: on((*Life).tellEnd),
		saveImpossible: on((*Life).failSaveLate),
	},
	Ended: {
		exportMade: on((*Life).exportMade), // the host closes
	},
}
