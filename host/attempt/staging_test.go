package attempt

import (
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// slowFolders are checkpoints of a place where a folder is made only when the test says so.
type slowFolders struct {
	SharedFiles
	asked, made chan struct{}
}

func (f slowFolders) Stage(x Item, quick bool) (string, bool, error) {
	if quick {
		return "", false, nil
	}
	f.asked <- struct{}{}
	<-f.made
	return f.SharedFiles.Stage(x, false)
}

// slowFolder is a run that is asked for a checkpoint, whose folder is being made, and then told to pause.
func slowFolder(t *testing.T, actions ...core.Action) (*Driver, *scripted, slowFolders) {
	t.Helper()
	files := slowFolders{asked: make(chan struct{}), made: make(chan struct{})}
	x, p := trains(t, clock.System{}, func(o *Options) {
		files.SharedFiles = SharedFiles{Storage: o.Storage}
		o.Checkpoints, o.Saved = files, func(string) {}
	})
	p.say <- []train.Event{{Kind: train.Started, Run: p.last(train.Start).Run}}
	for _, a := range actions {
		x.Put(Work{Action: a, Dir: x.Storage.Trial("0")})
		x.Flush()
	}
	<-files.asked
	return x, p, files
}

// orders are the kinds of the commands that a process got, after the start.
func (s *scripted) orders() (list []train.CommandKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.commands {
		if c.Kind != train.Start {
			list = append(list, c.Kind)
		}
	}
	return list
}

// B-050: a pause does not overtake a checkpoint whose folder is being made on another machine: the trainable would have
// ended when it is asked for it.
func TestPauseAfterTheSave(t *testing.T) {
	x, p, files := slowFolder(t, core.SaveAttempt{Attempt: 1, ID: 1}, core.StopAttempt{Attempt: 1, Paused: true})
	x.Put(Work{Action: core.ContinueAttempt{Attempt: 1, Credits: 1}}) // done once the pause was looked at
	x.Flush()
	testplace.Soon(t, "a credit", func() bool { return p.told(train.Continue) })
	close(files.made)
	testplace.Soon(t, "the pause", func() bool { return p.told(train.Stop) })
	if got := p.orders(); len(got) != 3 || got[1] != train.Save || got[2] != train.Stop {
		t.Errorf("it is told %v", got)
	}
	p.say <- []train.Event{{Kind: train.Saved, Run: 1}, {Kind: train.Ended, Run: 1}}
	testplace.Soon(t, "the checkpoint", func() bool { return saved(x) })
}

// An attempt that is to be killed does not wait for the folder of a checkpoint, whether of one that was asked for
// before, or of the one with which it stops.
func TestKillWaitsForNoFolder(t *testing.T) {
	for _, actions := range [][]core.Action{
		{core.SaveAttempt{Attempt: 1, ID: 1}, core.StopAttempt{Attempt: 1, Paused: true}},
		{core.StopAttempt{Attempt: 1, Paused: true, SaveID: 1}},
	} {
		x, p, files := slowFolder(t, append(actions, core.KillAttempt{Attempt: 1})...)
		testplace.Soon(t, "the order to kill", func() bool { return p.told(train.Kill) })
		p.say <- []train.Event{{Kind: train.Ended, Run: 1}}
		heardOf(t, x)
		close(files.made)
	}
}
