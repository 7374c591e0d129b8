package publish

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// recordOf returns the record of an experiment of many results, and the events for reporters.
func recordOf(t *testing.T) (record string, open func() (*view.EventLog, error), events []view.Event) {
	t.Helper()
	w := viewtest.New(filepath.Join(t.TempDir(), "test"), []byte("version: 1\nobjective: {metric: accuracy, mode: "+
		"max}\nspace: {lr: {uniform: [0, 1]}}\ntrials: 120\n"), 1)
	w.Fails = map[core.TrialNo]string{7: "no luck", 60: "no luck"}
	w.Start(4)
	w.Run(-1)
	w.Host(viewtest.Epoch.Add(time.Hour), 4)
	w.Run(-1)
	w.Close()
	record = w.Dir.Journal()
	run, c, err := runfile.Read(w.Dir)
	if err != nil {
		t.Fatal(err)
	}
	facts := &view.Facts{Name: run.Name, Seed: run.Seed, Config: c, Dir: w.Dir}
	open = func() (*view.EventLog, error) {
		h, err := history.Open(record)
		if err != nil {
			return nil, err
		}
		return view.NewEventLog(facts, h), nil
	}
	f, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for after, more := uint64(0), true; more; {
		list, err := f.Rest(context.Background(), after)
		if err != nil {
			t.Fatal(err)
		}
		if more = len(list) > 0; more {
			events, after = append(events, list...), list[len(list)-1].Number
		}
	}
	if len(events) < 500 {
		t.Fatalf("%d events", len(events))
	}
	return record, open, events
}

// gated takes a batch each time that it is allowed to.
type gated struct {
	let    chan struct{}
	fails  map[int]float64 // calls that fail, and the share of its events that it keeps
	calls  int
	after  uint64
	events []view.Event
}

func (g *gated) Report(ctx context.Context, events []view.Event) error {
	<-g.let
	g.calls++
	if share, ok := g.fails[g.calls]; ok {
		g.events, g.after = g.events[:int(share*float64(len(g.events)))], 0
		if n := len(g.events); n > 0 {
			g.after = g.events[n-1].Number
		}
		return errors.New("no luck")
	}
	g.events = append(g.events, events...)
	return nil
}

func (g *gated) Revive(context.Context, error) (uint64, error) { return g.after, nil }
func (g *gated) Close() error                                  { return nil }

// Subscribers share the events that they are given: what one of them receives later does not change what another has.
func TestSubscribersShareEvents(t *testing.T) {
	_, _, events := recordOf(t)
	given := slices.Clone(events)
	var took []*gated
	var all []*Subscriber
	for range 2 {
		g := &gated{let: make(chan struct{}, len(events))}
		close(g.let)
		took = append(took, g)
		all = append(all, NewSubscriber(SubscriberOptions{Name: "x", To: g, Log: hostlog.New(hclog.NewNullLogger())}))
		all[len(all)-1].Put(given[:10])
	}
	all[0].Put(given[20:30])
	all[1].Put(given[10:20])
	for _, r := range all {
		r.End()
		r.Run()
	}
	if d := cmp.Diff(slices.Concat(events[:10], events[20:30]), took[0].events); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(events[:20], took[1].events); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(events, given); d != "" {
		t.Error(d)
	}
}

// B-127: what waits for a reporter is limited. Above the limit it is read again from the record, also
// after a crash that lost events that it had taken.
func TestReporterFallsBehind(t *testing.T) {
	_, open, events := recordOf(t)
	for name, fails := range map[string]map[int]float64{
		"slow":               nil,
		"crashes":            {2: 1, 4: 0.5, 5: 0.9},
		"crashes at once":    {1: 0},
		"crashes and forgot": {3: 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := &gated{let: make(chan struct{}, len(events)), fails: fails}
			reads := 0
			r := NewSubscriber(SubscriberOptions{Name: "x", To: g, Log: hostlog.New(hclog.NewNullLogger()),
				Most:   20_000,
				Follow: func() (*view.EventLog, error) { reads++; return open() }})
			go r.Run()
			for i := 0; i < len(events); i += 10 {
				r.Put(events[i:min(i+10, len(events))])
				r.mu.Lock()
				if r.weight > r.Most || len(r.waiting) > 200 {
					t.Errorf("%d events of %d bytes wait", len(r.waiting), r.weight)
				}
				r.mu.Unlock()
				if i%100 == 0 {
					g.let <- struct{}{}
				}
			}
			close(g.let)
			r.End()
			<-r.done
			if d := cmp.Diff(events, g.events); d != "" {
				t.Error(d)
			}
			if reads == 0 {
				t.Error("it has never read the record")
			}
		})
	}
}

// B-086: an event that no host records is an error for a reporter that is behind, too.
func TestSenselessEvent(t *testing.T) {
	record, open, events := recordOf(t)
	fs, err := journal.OpenDir(record)
	if err != nil {
		t.Fatal(err)
	}
	defer fs.Close()
	j, _, err := journal.Open(fs, journal.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append([][]byte{{0, 1}}); err != nil || j.Close() != nil { // it begins once more
		t.Fatal(err)
	}
	f, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	last := events[len(events)-1].Number
	if _, err = f.Next(t.Context(), 0, last); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Next(t.Context(), last, last+1)
	}
	if !strings.HasPrefix(err.Error(), record+": record ") || !errors.Is(err, journal.ErrCorrupt) {
		t.Error(err)
	}
}

// B-127: when the host's time is over, the rest is passed on later.
func TestReporterIsAbandoned(t *testing.T) {
	_, _, events := recordOf(t)
	log := hostlog.New(hclog.NewNullLogger())
	x := NewSubscriber(SubscriberOptions{Name: "x", To: &PluginReporter{Title: "x", Log: log, Clock: clock.System{},
		Limit:   time.Hour,
		current: stuck{}}, Log: log})
	go x.Run()
	x.Put(events[:5])
	x.End()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x.Await(ctx)
	select {
	case <-x.done:
	default:
		t.Error("it is still at it")
	}
}

// stuck answers only when its caller has left.
type stuck struct{}

func (stuck) Report(ctx context.Context, _ []sdk.ReporterEvent) error {
	<-ctx.Done()
	return ctx.Err()
}
func (stuck) After() uint64 { return 0 }
func (stuck) Close() error  { return nil }

// The number that the host keeps for reporters that do not count is complete or missing.
func TestReadNumber(t *testing.T) {
	file := filepath.Join(t.TempDir(), ".told-x")
	for text, want := range map[string]uint64{"17\n": 17, "17": 0, "": 0, "x\n": 0, "-1\n": 0} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := readNumber(file); got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
}

// A reporter for which the host waits long at its end is named, also to readers, until it has received all events.
func TestReporterThatIsWaitedFor(t *testing.T) {
	_, _, events := recordOf(t)
	for what, ends := range map[string]bool{"in time": true, "too late": false} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			g := &gated{let: make(chan struct{}, len(events))}
			notes := make(chan time.Time, 10)
			r := NewSubscriber(SubscriberOptions{Name: "x", To: g, Log: hostlog.New(hclog.NewNullLogger()),
				Note: func(until time.Time) error { notes <- until; return nil }})
			go r.Run()
			r.Put(events[:1])
			r.End()
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			end, _ := ctx.Deadline()
			go r.Await(ctx)
			if until := <-notes; !until.Equal(end) {
				t.Errorf("the host waits until %v, not %v", until, end)
			}
			if !ends {
				cancel()
			}
			close(g.let)
			if until := <-notes; !until.IsZero() {
				t.Errorf("it still waits, until %v", until)
			}
		})
	}
}
