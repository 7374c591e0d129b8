package life

import (
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

func (l *Life) launch(DirReady) State {
	l.do(Launch{})
	return Launching
}

func (l *Life) failDir(e DirFailed) State { return l.end(e.End) }

func (l *Life) failLaunch(e LaunchFailed) State {
	if e.Unreachable {
		return l.end(core.AttemptEnded{Interrupted: true})
	}
	return l.end(core.AttemptEnded{Cause: core.TrainableFailure(e.Error), NeverStarted: e.NeverStarted})
}

// start tells the process to start the attempt.
func (l *Life) start(e Assigned) State {
	l.warm, l.watching = e.Warm, true
	l.do(WatchBegin{})
	l.tell(train.Command{Kind: train.Start})
	return Starting
}

// startCanceled handles a process that came after the order to stop. The process is told to start
// and to stop, so that it answers as for every attempt.
func (l *Life) startCanceled(e Assigned) State {
	l.warm = e.Warm
	l.tell(train.Command{Kind: train.Start})
	l.tell(l.order)
	return Stopping
}

// begin handles the start of training, or a trainable that cannot start yet.
func (l *Life) begin(e Started) State {
	l.unwatch()
	switch {
	case !e.Waiting:
		l.starts(e)
		return Running
	case l.state == Starting:
		return Waiting
	}
	return l.state
}

// startLate is begin after an order to stop.
func (l *Life) startLate(e Started) State {
	l.unwatch()
	if !e.Waiting {
		l.starts(e)
	}
	return l.state
}

func (l *Life) starts(e Started) {
	l.begun = true
	l.do(Post{&core.AttemptStarted{Trial: l.Trial, Attempt: l.Attempt, PID: e.PID}})
}

// giveUp ends an attempt that has not begun in time. An attempt in a reused process gets a fresh
// one. An attempt in a shared process ends alone.
func (l *Life) giveUp(e NotBegun) State {
	switch {
	case l.warm:
		l.do(Replace{})
		return l.state
	case e.Others:
		l.fault, l.ignoring = e.Cause, true
		l.tellNow(train.Kill)
		l.arm(LastMoment)
		return Abandoned
	}
	return l.destroy(core.AttemptEnded{Cause: e.Cause}, false)
}

// losesProcessEarly handles the loss of a process before the attempt has begun. The attempt does
// not fail if a reused process could not be reset, or if the machine lacks something.
func (l *Life) losesProcessEarly(e ProcessLost) State {
	switch {
	case l.closing:
	case l.warm:
		return l.renew(e.Error, false)
	case e.Short:
		l.unwatch()
		l.do(Retry{})
		return Launching
	}
	return l.losesProcess(e)
}

// renew starts a fresh process for the attempt.
func (l *Life) renew(why string, retire bool) State {
	l.unwatch()
	l.begun = false
	l.do(Renew{Why: why, Retire: retire})
	return Launching
}
