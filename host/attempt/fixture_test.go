package attempt

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/attempt/life"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/diskspace"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// scripted is a trainable's process that says what a test wants, whatever it is
// told.
type scripted struct {
	say    chan []train.Event
	killed chan struct{}
	once   sync.Once

	mu       sync.Mutex
	commands []train.Command
	err      error // of Recv once it is killed; nil: io.EOF
}

func newScripted() *scripted {
	return &scripted{say: make(chan []train.Event, 100), killed: make(chan struct{})}
}

func (s *scripted) Traits() sdk.TrainableTraits { return sdk.TrainableTraits{Shared: true} }

func (s *scripted) Send(commands []train.Command) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands = append(s.commands, commands...)
	return nil
}

func (s *scripted) Recv() ([]train.Event, error) {
	select {
	case events := <-s.say:
		return events, nil
	case <-s.killed:
		s.mu.Lock()
		defer s.mu.Unlock()
		return nil, cmp.Or(s.err, io.EOF)
	}
}

// fail ends the process with an error.
func (s *scripted) fail(err error) {
	s.mu.Lock()
	s.err = err
	s.mu.Unlock()
	s.Kill()
}

func (s *scripted) Request(context.Context, []byte) ([]byte, error) { return nil, nil }
func (s *scripted) Kill()                                           { s.once.Do(func() { close(s.killed) }) }
func (s *scripted) Close() error                                    { s.Kill(); return nil }

func (s *scripted) told(kind train.CommandKind) bool { return s.count(kind) > 0 }

// last is the newest command of a kind.
func (s *scripted) last(kind train.CommandKind) (c train.Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.commands {
		if s.commands[i].Kind == kind {
			c = s.commands[i]
		}
	}
	return c
}

func (s *scripted) count(kind train.CommandKind) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.commands {
		if c.Kind == kind {
			n++
		}
	}
	return n
}

// trains is the driver of trainables with one such process, and a trial begun.
func trains(t *testing.T, clock clock.Clock, more ...func(*Options)) (*Driver, *scripted) {
	t.Helper()
	x, p := driver(t, clock, more...)
	testplace.Soon(t, "its start", func() bool { return p.told(train.Start) })
	return x, p
}

// driver is one that has been told to begin a trial.
func driver(t *testing.T, clock clock.Clock, more ...func(*Options)) (*Driver, *scripted) {
	t.Helper()
	d, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(d.Trials(), 0o700); err != nil {
		t.Fatal(err)
	}
	p := newScripted()
	log := hostlog.New(hclog.NewNullLogger())
	o := Options{Open: func(context.Context, exec.Place) (plugin.Trainer, error) { return p, nil }, Shared: true,
		Grace: time.Second,
		Inbox: inbox.New(), Log: log, Clock: clock, Storage: d, Disk: diskspace.New(log, clock)}
	for _, f := range more {
		f(&o)
	}
	x := New(o)
	go x.Run(t.Context())
	t.Cleanup(x.Close)
	x.Put(Work{Action: core.StartAttempt{Trial: 0, Attempt: 1},
		Trial: &sdk.Trial{Dir: d.Trial("0"), Params: []byte(`{}`)}, Dir: d.Trial("0"), Params: []byte(`{}`)})
	x.Flush()
	return x, p
}

func contains(t *testing.T, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%q is not in: %s", part, text)
	}
}

// heardOf waits until the core would have heard of the run's end, and returns all
// that it would have heard.
func heardOf(t *testing.T, x *Driver) (list []inbox.Item, end *core.AttemptEnded) {
	t.Helper()
	testplace.Soon(t, "the run's end", func() bool {
		for _, n := range x.Inbox.Take(nil) {
			list = append(list, n)
			if e, ok := n.Event.(*core.AttemptEnded); ok {
				end = e
			}
		}
		return end != nil
	})
	return list, end
}

func (t *Driver) waits(no core.TrialNo) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.runs[no].State() == life.Waiting
}

// startAnother begins a trial with a request, as every real one has.
func startAnother(x *Driver, no core.TrialNo) {
	dir := x.Storage.Trial(fmt.Sprint(no))
	trial := &sdk.Trial{Dir: dir, Params: []byte(`{}`), Resources: []byte(`{"cpu":1}`)}
	x.Put(Work{Action: core.StartAttempt{Trial: no, Attempt: 1}, Trial: trial, Dir: dir, Params: []byte(`{}`)})
	x.Flush()
}

// later is a clock whose timers are called by the test.
type later struct {
	clock.System
	mu     sync.Mutex
	timers []func()
	waits  []time.Duration
}

func (l *later) AfterFunc(d time.Duration, f func()) func() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timers, l.waits = append(l.timers, f), append(l.waits, d)
	return func() bool { return false }
}

func (l *later) pass() {
	l.mu.Lock()
	timers := l.timers
	l.timers = nil
	l.mu.Unlock()
	for _, f := range timers {
		f()
	}
}

// waited is the sum of what was waited for.
func (l *later) waited() (sum time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range l.waits {
		sum += d
	}
	return sum
}

func (l *later) set() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.timers)
}
