package training

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/clock/clocktest"
	"github.com/tunehost/tunehost/host/diskspace"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/storage"
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
		return nil, io.EOF
	}
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
	soon(t, "its start", func() bool { return p.told(train.Start) })
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
	o := Options{Open: func(context.Context, []string) (plugin.Trainer, error) { return p, nil }, Shared: true, Grace: time.Second,
		Inbox: inbox.New(), Log: log, Clock: clock, Storage: d, Disk: diskspace.New(log, clock)}
	for _, f := range more {
		f(&o)
	}
	x := New(o)
	go x.Run(t.Context())
	t.Cleanup(x.Close)
	x.Put(Work{Action: core.StartAttempt{Trial: 0, Attempt: 1}, Trial: &sdk.Trial{Dir: d.Trial("0"), Params: []byte(`{}`)}, Dir: d.Trial("0"), Params: []byte(`{}`)})
	x.Flush()
	return x, p
}

// screenful is what is written, from whichever goroutine it comes.
type screenful struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screenful) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *screenful) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func contains(t *testing.T, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%q is not in: %s", part, text)
	}
}

func soon(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

// heardOf waits until the core would have heard of the run's end, and returns all
// that it would have heard.
func heardOf(t *testing.T, x *Driver) (list []inbox.News, end *core.AttemptEnded) {
	t.Helper()
	soon(t, "the run's end", func() bool {
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

// A process that speaks of runs that it was not given, answers what was not
// asked, and goes on after the end is not heard.
func TestEventsOfNoSense(t *testing.T) {
	x, p := trains(t, clock.System{})
	ok := []sdk.Metric{{Name: "score", Value: 1}}
	p.say <- []train.Event{
		{Kind: train.Result, Run: 99, Metrics: ok},
		{Kind: train.Ended, Run: 99, Error: "not mine"},
		{Kind: train.Saved, Run: 1, Checkpoint: "/etc", Iteration: 1 << 60},
		{Kind: train.Started, Run: 0},
		{Kind: train.Result, Run: 1, Metrics: ok},
		{Kind: train.Ended, Run: 1},
		{Kind: train.Result, Run: 1, Metrics: ok},
		{Kind: train.Ended, Run: 1, Error: "twice"},
		{Kind: 77, Run: 1},
	}
	list, end := heardOf(t, x)
	if len(list) != 2 || list[0].Result == nil || end.Cause.Kind != core.CauseNone {
		t.Errorf("%d pieces of news, the end is %+v; want a result and a good end", len(list), end)
	}
}

// B-070: a trainable that does not say that a trial has started is named, and its
// trial fails; its process is killed.
func TestNeverBegins(t *testing.T) {
	for _, shared := range []bool{true, false} {
		said := &screenful{}
		x, _ := trains(t, clocktest.New(1000), func(o *Options) {
			o.Shared, o.Name, o.Begin, o.Log = shared, "sleepy", time.Minute, hostlog.Open(io.Discard, hostlog.NewScreen(said, ""))
		})
		_, end := heardOf(t, x)
		contains(t, end.Cause.String(),
			`trainable "sleepy" did not say within 1m that the trial had started (STARTED), and was killed`)
		contains(t, said.String(), `trainable "sleepy" has not said for 10s that trial 0 has started (STARTED); it is given up after 1m (deadlines.begin)`)
	}
}

// One of several trials in a process does not take the others with it.
func TestNeverBeginsAmongOthers(t *testing.T) {
	x, p := trains(t, clocktest.New(1000), func(o *Options) { o.Begin = time.Minute })
	p.say <- []train.Event{{Kind: train.Started, Run: 1}}
	startAnother(x, 1)
	soon(t, "the order to die", func() bool { return p.told(train.Kill) })
	_, end := heardOf(t, x)
	if end.Trial != 1 {
		t.Errorf("trial %d has ended: %s", end.Trial, end.Cause)
	}
	contains(t, end.Cause.String(), "did not say within 1m that the trial had started")
	select {
	case <-p.killed:
		t.Error("the process was killed, in which another trial runs")
	default:
	}
}

// A program that is held back is given the time, and its process is that of its later start.
func TestHeldBackProgram(t *testing.T) {
	now := &later{}
	x, p := trains(t, now, func(o *Options) { o.Begin, o.Programs = time.Minute, true })
	p.say <- []train.Event{{Kind: train.Started, Run: 1, Waiting: true}}
	soon(t, "the wait", func() bool { return x.waits(0) })
	now.pass()
	p.say <- []train.Event{{Kind: train.Started, Run: 1, PID: 7}, {Kind: train.Ended, Run: 1}}
	list, end := heardOf(t, x)
	started, ok := list[0].Event.(*core.AttemptStarted)
	if !ok || started.PID != 7 || len(list) != 2 || end.Cause.Kind != core.CauseNone {
		t.Errorf("%+v, %s", list, end.Cause)
	}
}

func (t *Driver) waits(no core.TrialNo) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.runs[no].waiting
}

// startAnother begins a trial with a request, as every real one has.
func startAnother(x *Driver, no core.TrialNo) {
	dir := x.Storage.Trial(fmt.Sprint(no))
	trial := &sdk.Trial{Dir: dir, Params: []byte(`{}`), Resources: []byte(`{"cpu":1}`)}
	x.Put(Work{Action: core.StartAttempt{Trial: no, Attempt: 1}, Trial: trial, Dir: dir, Params: []byte(`{}`)})
	x.Flush()
}

// The limit of a process that is to be reset is not that of one that all trials share: each
// of them has the time that the file allows.
func TestNeverBeginsInASharedProcess(t *testing.T) {
	x, p := trains(t, clocktest.New(1000), func(o *Options) { o.Begin = 10 * time.Minute })
	p.say <- []train.Event{{Kind: train.Started, Run: 1}}
	startAnother(x, 1)
	soon(t, "the next start", func() bool { return p.count(train.Start) == 2 })
	p.say <- []train.Event{{Kind: train.Started, Run: 2}}
	startAnother(x, 2)
	_, end := heardOf(t, x)
	contains(t, end.Cause.String(), "did not say within 10m that the trial had started")
}

// B-053, B-050: a checkpoint of what was never reported does not count.
func TestCheckpointOfNoSense(t *testing.T) {
	x, p := trains(t, clock.System{})
	p.say <- []train.Event{{Kind: train.Result, Run: 1, Metrics: []sdk.Metric{{Name: "score"}}, Iteration: 3}}
	x.Put(Work{Action: core.SaveAttempt{Trial: 0, Attempt: 1, ID: 1, Iteration: 3}, Dir: x.Storage.Trial("0")})
	x.Flush()
	soon(t, "the order to save", func() bool { return p.told(train.Save) })
	p.say <- []train.Event{{Kind: train.Saved, Run: 1, Iteration: 4}, {Kind: train.Ended, Run: 1}}
	list, _ := heardOf(t, x)
	for _, n := range list {
		switch e := n.Event.(type) {
		case *core.CheckpointSaved:
			t.Errorf("it counts: %+v", e)
		case *core.SaveFailed:
			contains(t, e.Error, "it has saved iteration 4, which it has not reported")
			return
		}
	}
	t.Errorf("nobody hears of it: %+v", list)
}

// B-126: a save that takes longer than its limit is named with its time, once.
func TestSlowSavesAreNamedOnce(t *testing.T) {
	said, clock := &screenful{}, clocktest.New(1)
	x, p := trains(t, clock, func(o *Options) {
		o.Log, o.Saved = hostlog.Open(io.Discard, hostlog.NewScreen(said, "")), func(string) { clock.Jump(11 * time.Second) }
	})
	for id := range uint32(3) {
		p.say <- []train.Event{{Kind: train.Result, Run: 1, Metrics: []sdk.Metric{{Name: "score"}}}}
		x.Put(Work{Action: core.ContinueAttempt{Trial: 0, Attempt: 1, Credits: 1}})
		x.Put(Work{Action: core.SaveAttempt{Trial: 0, Attempt: 1, ID: id + 1, Iteration: uint64(id) + 1}, Dir: x.Storage.Trial("0")})
		x.Flush()
		soon(t, "the order to save", func() bool { return p.count(train.Save) == int(id)+1 })
		if err := os.WriteFile(filepath.Join(p.last(train.Save).Dir, "model"), []byte{byte(id)}, 0o600); err != nil {
			t.Fatal(err)
		}
		p.say <- []train.Event{{Kind: train.Saved, Run: 1}}
		soon(t, "the checkpoint", func() bool { return saved(x) })
	}
	if got := strings.Count(said.String(), "saving a checkpoint took 11"); got != 1 {
		t.Errorf("it is said %d times, want once: %s", got, said)
	}
}

// B-051: while a trial's checkpoint is made whole, another begins, reports and is answered; the
// checkpoint counts when it is whole, and not before.
func TestSavesBesideOthers(t *testing.T) {
	whole := make(chan struct{})
	x, p := trains(t, clock.System{}, func(o *Options) { o.Saved = func(string) { <-whole } })
	report := func(run uint64) {
		p.say <- []train.Event{{Kind: train.Result, Run: run, Metrics: []sdk.Metric{{Name: "score"}}}}
	}
	report(1)
	x.Put(Work{Action: core.SaveAttempt{Trial: 0, Attempt: 1, ID: 1, Iteration: 1}, Dir: x.Storage.Trial("0")})
	x.Flush()
	soon(t, "the order to save", func() bool { return p.told(train.Save) })
	if err := os.WriteFile(filepath.Join(p.last(train.Save).Dir, "model"), []byte("model"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.say <- []train.Event{{Kind: train.Saved, Run: 1}}

	dir := x.Storage.Trial("1")
	x.Put(Work{Action: core.StartAttempt{Trial: 1, Attempt: 1}, Trial: &sdk.Trial{Dir: dir, Params: []byte(`{}`)}, Dir: dir, Params: []byte(`{}`)})
	x.Flush()
	soon(t, "another trial's start", func() bool { return p.count(train.Start) == 2 })
	other := p.last(train.Start).Run
	p.say <- []train.Event{{Kind: train.Started, Run: other}}
	report(other)
	x.Put(Work{Action: core.ContinueAttempt{Trial: 1, Attempt: 1, Credits: 1}})
	x.Flush()
	soon(t, "its answer", func() bool { return p.last(train.Continue).Run == other })
	heard, counts := false, false
	look := func() {
		for _, n := range x.Inbox.Take(nil) {
			_, saved := n.Event.(*core.CheckpointSaved)
			counts = counts || saved
			heard = heard || n.Result != nil && n.Result.Trial == 1
		}
	}
	soon(t, "its result", func() bool { look(); return heard })
	if counts {
		t.Error("a checkpoint counts that is not whole yet")
	}
	close(whole)
	soon(t, "the checkpoint", func() bool { look(); return counts })
}

// saved says whether news of a checkpoint has come.
func saved(x *Driver) bool {
	return slices.ContainsFunc(x.Inbox.Take(nil), func(n inbox.News) bool {
		_, ok := n.Event.(*core.CheckpointSaved)
		return ok
	})
}

// B-070, B-023: one that talks nonsense is told to stop, then killed; one that
// shares its process with others is given a last moment, and then the process is
// killed all the same. Nothing that it says meanwhile is heard.
func TestNonsenseIsStopped(t *testing.T) {
	x, p := trains(t, clocktest.New(50))
	bad := train.Event{Kind: train.Result, Run: 1, Metrics: []sdk.Metric{{Name: ""}}}
	good := train.Event{Kind: train.Result, Run: 1, Metrics: []sdk.Metric{{Name: "score", Value: 1}}}
	p.say <- []train.Event{good, bad, good, {Kind: train.Log, Run: 1, Text: "hello"}}
	soon(t, "the order to stop", func() bool { return p.told(train.Stop) })
	soon(t, "the order to die", func() bool { return p.told(train.Kill) })
	list, end := heardOf(t, x)
	if !strings.Contains(end.Cause.String(), "it reported nonsense: a metric has no name") || len(list) != 2 {
		t.Errorf("%d pieces of news, the end is %+v", len(list), end)
	}
	select {
	case <-p.killed:
	default:
		t.Error("its process lives")
	}
}

// B-023, B-070: a trial that ignores the word to stop is gone when its grace is over, with the
// process that it shares. Others in that process are interrupted, which is no failure of theirs.
// Only a process that kills its trials' programs by itself is given time to say that it has.
func TestSharedProcessIsKilled(t *testing.T) {
	for _, programs := range []bool{false, true} {
		now := &later{}
		said := &screenful{}
		x, p := trains(t, now, func(o *Options) {
			o.Programs, o.Log = programs, hostlog.Open(io.Discard, hostlog.NewScreen(said, ""))
		})
		dir := x.Storage.Trial("1")
		x.Put(Work{Action: core.StartAttempt{Trial: 1, Attempt: 1}, Trial: &sdk.Trial{Dir: dir, Params: []byte(`{}`)}, Dir: dir, Params: []byte(`{}`)})
		x.Put(Work{Action: core.StopAttempt{Trial: 1, Attempt: 1}})
		x.Flush()
		soon(t, "the grace", func() bool { return now.set() == 1 })
		now.pass() // the grace
		now.pass() // the moment after it
		if now.waited() != time.Second+killGrace && !programs {
			t.Errorf("it has %v", now.waited())
		}
		select {
		case <-p.killed:
			if programs {
				t.Fatal("the process is killed, which may have killed its program by now")
			}
		default:
			if !programs {
				t.Fatal("the process lives")
			}
			now.pass()
		}
		ends := map[core.TrialNo]*core.AttemptEnded{}
		soon(t, "their ends", func() bool {
			for _, n := range x.Inbox.Take(nil) {
				if e, ok := n.Event.(*core.AttemptEnded); ok {
					ends[e.Trial] = e
				}
			}
			return len(ends) == 2
		})
		if !ends[0].Interrupted || ends[0].Cause.Kind != core.CauseNone || ends[1].Interrupted {
			t.Errorf("they end as %+v and %+v", ends[0], ends[1])
		}
		contains(t, said.String(), "trial 1 did not end within stop_grace (1s): its process is killed, and with it 1 other trials")
	}
}

// Lines for the log beyond 1 MiB a second are dropped and counted.
func TestFloodOfLogs(t *testing.T) {
	x, p := trains(t, clock.System{})
	seen := &screenful{}
	x.Log = hostlog.New(hclog.New(&hclog.LoggerOptions{Output: seen}))
	line, began := train.Event{Kind: train.Log, Run: 1, Text: strings.Repeat("z", 1<<10)}, time.Now()
	for range 64 {
		events := make([]train.Event, 256)
		for i := range events {
			events[i] = line
		}
		p.say <- events
	}
	soon(t, "the flood's end", func() bool { return len(p.say) == 0 })
	soon(t, "room for more", func() bool {
		p.say <- []train.Event{{Kind: train.Log, Run: 1, Text: "the next line"}}
		return strings.Contains(seen.String(), "lines dropped: it prints more than 1 MiB a second")
	})
	// A line has some bytes more in the log.
	if n, allowed := len(seen.String()), (3+int(time.Since(began).Seconds()))<<20*11/10; n > allowed {
		t.Errorf("%d bytes were written, %d are allowed", n, allowed)
	}
	p.say <- []train.Event{{Kind: train.Ended, Run: 1}}
	heardOf(t, x)
}

// B-009: a process that does not wait for answers fails its trial; what it may report
// counts, and that is more once it was told to stop.
func TestRunsTooFarAhead(t *testing.T) {
	for _, c := range []struct {
		credits, taken int
		stop           bool
	}{{0, 1, false}, {4, 5, false}, {4, 5 + maxFinal, true}} {
		x, p := trains(t, clock.System{})
		x.Put(Work{Action: core.ContinueAttempt{Trial: 0, Attempt: 1, Credits: uint32(c.credits)}})
		if c.stop {
			x.Put(Work{Action: core.StopAttempt{Trial: 0, Attempt: 1}})
		}
		x.Flush()
		soon(t, "the word", func() bool { return (c.credits == 0 || p.told(train.Continue)) && p.told(train.Stop) == c.stop })
		for range c.taken + 5 {
			p.say <- []train.Event{{Kind: train.Result, Run: 1, Metrics: []sdk.Metric{{Name: "score", Value: 1}}}}
		}
		p.say <- []train.Event{{Kind: train.Ended, Run: 1}}
		list, end := heardOf(t, x)
		contains(t, end.Cause.String(), "where it must wait for an answer after")
		if len(list) != c.taken+1 {
			t.Errorf("%d results are taken, want %d", len(list)-1, c.taken)
		}
	}
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

// B-009: a trial is let run ahead when the decision on its recorded result takes long, by
// one result; one that is decided in time is not, and the decision is not counted twice.
func TestRunsAheadOfSlowDecisions(t *testing.T) {
	now := &later{}
	x, p := trains(t, now)
	reports := func() {
		p.say <- []train.Event{{Kind: train.Result, Run: 1, Metrics: []sdk.Metric{{Name: "score", Value: 1}}}}
		soon(t, "the result", func() bool { return len(x.Inbox.Take(nil)) == 1 })
		x.Put(Work{Action: core.RunAhead{Trial: 0, Attempt: 1}})
		x.Flush()
		soon(t, "the timer", func() bool { return now.set() == 1 })
	}
	credits := func() (n int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, c := range p.commands {
			n += int(c.Credits)
		}
		return n
	}
	goOn := func(want int) {
		t.Helper()
		x.Put(Work{Action: core.ContinueAttempt{Trial: 0, Attempt: 1, Credits: 1}})
		x.Put(Work{Action: core.SaveAttempt{Trial: 0, Attempt: 1, ID: uint32(want)}, Dir: x.Storage.Trial("0")}) // comes after it
		x.Flush()
		soon(t, "the order after it", func() bool { return p.count(train.Save) == want })
	}
	reports()
	now.pass() // the decision takes long
	if n := credits(); n != 1 {
		t.Fatalf("it may report %d more results", n)
	}
	reports()
	goOn(1) // the first decision comes: the trial has its credit already
	if n := credits(); n != 1 {
		t.Fatalf("it may report %d more results than the one ahead", n-1)
	}
	goOn(2) // the second, in time
	if now.pass(); credits() != 2 {
		t.Errorf("%d credits for 2 results", credits())
	}
}

// An experiment has so many metrics at most; each is kept for its life.
func TestEndlessMetricNames(t *testing.T) {
	x := New(Options{})
	var err error
	n := 0
	for ; err == nil && n < 2*maxMetricNames; n++ {
		err = x.nameAll([]sdk.Metric{{Name: "score"}, {Name: fmt.Sprint("m", n)}})
	}
	if err == nil || n != maxMetricNames || len(x.names) != maxMetricNames {
		t.Fatalf("%d results, %d names: %v", n, len(x.names), err)
	}
	contains(t, err.Error(), "is one more than the 20000 different ones that an experiment may have")
	if err := x.nameAll([]sdk.Metric{{Name: "score"}}); err != nil {
		t.Error(err)
	}
}

// B-024: a trial that is stopped while its process starts does not wait for that.
func TestStoppedWhileItStarts(t *testing.T) {
	opening := make(chan struct{})
	x, _ := driver(t, clock.System{}, func(o *Options) {
		o.Open = func(ctx context.Context, _ []string) (plugin.Trainer, error) {
			close(opening)
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	<-opening
	x.Put(Work{Action: core.StopAttempt{Trial: 0, Attempt: 1}, Dir: x.Storage.Trial("0")})
	x.Flush()
	if _, end := heardOf(t, x); end.Cause.Kind != core.CauseNone || end.NeverStarted {
		t.Errorf("it ends with %+v", end)
	}
}

// B-073: one that has no time for its grace is killed at once, after it was told to stop.
func TestKilledWithoutGrace(t *testing.T) {
	x, p := trains(t, clock.System{}, func(o *Options) { o.Grace, o.Shared = time.Hour, false })
	dir := x.Storage.Trial("0")
	x.Put(Work{Action: core.StopAttempt{Trial: 0, Attempt: 1}, Dir: dir})
	x.Put(Work{Action: core.KillAttempt{Trial: 0, Attempt: 1}, Dir: dir})
	x.Flush()
	soon(t, "the order to die", func() bool { return p.told(train.Kill) })
	if !p.told(train.Stop) {
		t.Error("it was not told to stop")
	}
	heardOf(t, x)
}

// B-150: the user is told of a program whose grace was over before it had cleaned up, once, and
// also where its trainable says so too. One that is killed without its grace is no news.
func TestOutstayedProgram(t *testing.T) {
	now, said := &later{}, &screenful{}
	x, p := trains(t, now, func(o *Options) {
		o.Programs, o.Log = true, hostlog.Open(io.Discard, hostlog.NewScreen(said, ""))
	})
	p.say <- []train.Event{{Kind: train.Started, Run: 1}, {Kind: train.Log, Run: 1, Text: "it has begun", Hint: true}}
	soon(t, "its beginning", func() bool { return strings.Contains(said.String(), "trial 0: it has begun") })
	x.Put(Work{Action: core.StopAttempt{Trial: 0, Attempt: 1}, Dir: x.Storage.Trial("0")})
	x.Flush()
	soon(t, "the grace", func() bool { return now.set() == 1 })
	now.pass()
	const text = "trial 0 did not end within stop_grace (1s) of its stop and was killed: what it saves at its end may be missing"
	p.say <- []train.Event{{Kind: train.Log, Run: 1, Text: text, Hint: true}, {Kind: train.Ended, Run: 1}}
	if _, end := heardOf(t, x); end.Cause.Kind != core.CauseNone {
		t.Error(end.Cause)
	}
	if strings.Count(said.String(), "did not end") != 1 || !strings.Contains(said.String(), "warning: "+text) {
		t.Error(said.String())
	}
}
