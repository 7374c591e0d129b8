package attempt

import (
	"context"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// starved is a process that runs out of threads and ends when it is told to start a trial.
type starved struct{ *scripted }

func (s starved) Send(commands []train.Command) error {
	s.Kill()
	return nil
}

func (s starved) Recv() ([]train.Event, error) {
	<-s.killed
	return nil, &plugin.Error{Plugin: "trainable", Failure: plugin.Crashed, What: "exited",
		Err: fmt.Errorf("no thread: %w", syscall.EAGAIN)}
}

// A trial does not fail of a process that had no room for its threads or could not be
// started: another one is started when a moment has passed.
func TestProcessesWithoutRoom(t *testing.T) {
	var opened atomic.Int64
	well := newScripted()
	x, _ := driver(t, clock.System{}, func(o *Options) {
		o.Open = func(context.Context, exec.Place) (plugin.Trainer, error) {
			switch opened.Add(1) {
			case 1:
				return starved{newScripted()}, nil
			case 2:
				return nil, &plugin.Error{Plugin: "trainable", Failure: plugin.NotStarted, What: "exited",
					Err: syscall.EAGAIN}
			}
			return well, nil
		}
	})
	testplace.Soon(t, "its start in another process", func() bool { return well.told(train.Start) })
	for _, n := range x.Inbox.Take(nil) {
		t.Errorf("the core hears %+v", n)
	}
}

// B-087: a trial does not fail because the disk has no room, or no inode, for the first file of its process: it starts
// once there is room. Python writes the system's errors with a large letter.
func TestNoRoomForTheFirstFile(t *testing.T) {
	x, p := driver(t, clock.System{})
	testplace.Soon(t, "its start", func() bool { return p.told(train.Start) })
	p.say <- []train.Event{{Kind: train.Ended, Run: p.last(train.Start).Run, NeverStarted: true,
		Error: "cannot write the trial's log: [Errno 28] No space left on device: 'stdout'"}}
	testplace.Soon(t, "another start", func() bool { return p.count(train.Start) == 2 })
	for _, n := range x.Inbox.Take(nil) {
		t.Errorf("the core hears %+v", n)
	}
}
