package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/record"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/diskspace"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/stoprules"
)

// Recorder keeps what happened.
type Recorder interface {
	// Append keeps records as one: all of them or none are there after a
	// crash. journal.ErrNoSpace: the disk is full, try again later.
	Append(records [][]byte) (first uint64, err error)
	// Sync returns when all that was appended would survive a loss of power.
	Sync() error
	Close() error
}

// Crew carries actions out. Do and Flush are called by the loop alone and
// return soon.
type Crew interface {
	Do(core.Action)
	// Flush is called when all actions of a batch were handed over.
	Flush()
}

// Limits of a step.
const (
	maxBatchEvents = 4096
	// A step ends with the event that reaches one of these, far below what the
	// journal takes at a time: a result can be many records, and a large one.
	maxBatchRecords = 16384
	maxBatchBytes   = 4 << 20
	slowStep        = time.Second
)

// Loop is the one place where things happen: what is in the inbox is recorded,
// then applied, and the actions are handed to the crew.
type Loop struct {
	history *history.History
	machine *core.Machine // the history's
	record  Recorder
	crew    Crew
	clock   clock.Clock
	log     *hostlog.Log
	inbox   *inbox.Inbox
	rules   *stoprules.Rules
	disk    *diskspace.Disk
	order   order
	// leave is closed when the host is told to leave.
	leave <-chan struct{}

	began    time.Time     // when this host took over
	before   time.Duration // running time before it did
	now      int64
	timed    bool // by setTime
	finished bool
	stepped  bool // something was applied by this host
	names    names
	heard    func(core.Event) // before its actions are carried out
	records  [][]byte
	bytes    int           // of records
	waited   time.Duration // for room, in this step
	behind   time.Time     // since when there has always been more
	spare    []inbox.News
}

// Run turns until the experiment is finished, or nothing can be recorded any
// more.
func (l *Loop) Run(ctx context.Context) error {
	for !l.finished && !l.over() {
		batch := l.inbox.Take(l.spare)
		if len(batch) == 0 {
			select {
			case <-l.inbox.Signal():
			case <-ctx.Done():
				return ctx.Err()
			}
			continue
		}
		l.watchLag(len(batch))
		if err := l.stepAll(batch); err != nil {
			return err
		}
		l.spare = batch
	}
	return nil
}

// over says that the experiment had ended before, and nothing has changed that.
func (l *Loop) over() bool {
	o, _ := l.machine.Outcome()
	return o != 0 && l.stepped
}

// stepAll takes a batch in pieces of bounded size.
func (l *Loop) stepAll(batch []inbox.News) error {
	for len(batch) > 0 && !l.finished {
		if q := batch[0].Query; q != nil {
			q(l.machine)
			batch = batch[1:]
			continue
		}
		part := untilQuery(batch[:min(len(batch), maxBatchEvents)])
		if err := l.stepInOrder(part); err != nil {
			return err
		}
		batch = batch[len(part):]
	}
	return nil
}

// stepInOrder takes what may be recorded now, and then what waited for that.
func (l *Loop) stepInOrder(batch []inbox.News) error {
	for now := l.order.admit(l.machine, batch); len(now) > 0 && !l.finished; now = l.order.release(l.machine) {
		for len(now) > 0 && !l.finished {
			n, err := l.step(now[:l.rules.Cut(now)])
			if err != nil {
				return err
			}
			now = now[n:]
		}
	}
	return nil
}

// untilQuery is the part before somebody wants to see the machine.
func untilQuery(batch []inbox.News) []inbox.News {
	for i := range batch {
		if batch[i].Query != nil {
			return batch[:i]
		}
	}
	return batch
}

// step is the whole of it: record, apply, act. It says how much of the batch it
// has taken, which is at least one.
func (l *Loop) step(batch []inbox.News) (int, error) {
	started := l.clock.Now()
	l.waited = 0
	l.tick()
	n, err := l.encode(batch)
	if err != nil {
		return 0, err
	}
	if err := l.keep(); errors.Is(err, errFull) {
		return 0, err
	} else if err != nil {
		return 0, unrecorded(err)
	}
	for _, b := range l.records {
		if err := l.apply(b); err != nil {
			return 0, err
		}
	}
	l.stepped = true
	if o, _ := l.machine.Outcome(); o == 0 {
		l.finished = false // what had ended was taken up again by what came after
	}
	l.crew.Flush()
	if d := l.clock.Since(started) - l.waited; d > slowStep {
		l.log.Slow("the loop's step", d)
	}
	return n, nil
}

// unrecorded ends a host: what happens from here on could not be gone on with.
func unrecorded(err error) error {
	return fmt.Errorf("the record cannot be written, and everything is stopped: %w", err)
}

// tick sets the running time, which never goes back.
func (l *Loop) tick() {
	if !l.timed {
		l.now = max(l.now, int64(l.before+l.clock.Since(l.began)))
	}
}

// time is the running time now.
func (l *Loop) time() int64 {
	l.tick()
	return l.now
}

// setTime lets a caller's clock count, and no other from here on.
func (l *Loop) setTime(at int64) { l.timed, l.now = true, max(l.now, at) }

// encode makes records of the batch, or of its first part where they are many.
func (l *Loop) encode(batch []inbox.News) (int, error) {
	l.records, l.bytes = l.records[:0], 0
	for i := range batch {
		e, last := batch[i].Event, false
		if n, ok := e.(*core.MetricNamed); ok {
			l.names.ids[n.Name] = n.ID
		}
		if r := batch[i].Result; r != nil {
			if err := l.nameMetrics(r); err != nil {
				return 0, err
			}
			x := l.rules.Result(l.machine, l.names.number, r)
			e, last = x, x.StopAll != "" // what comes after it is judged when all is stopped
		}
		if err := l.add(e); err != nil {
			return 0, err
		}
		if last || len(l.records) >= maxBatchRecords || l.bytes >= maxBatchBytes {
			return i + 1, nil
		}
	}
	return len(batch), nil
}

func (l *Loop) add(e core.Event) error {
	b, err := record.Append(make([]byte, 0, usualRecord), l.now, e)
	l.records = append(l.records, b)
	l.bytes += len(b)
	return err
}

// usualRecord is how long records of results and decisions are, as a rule.
const usualRecord = 48

// nameMetrics gives each new metric its number.
func (l *Loop) nameMetrics(r *inbox.Result) error {
	for _, m := range r.Metrics {
		if id, isNew := l.names.id(m.Name); isNew {
			if err := l.add(&core.MetricNamed{ID: id, Name: m.Name}); err != nil {
				return err
			}
		}
	}
	return nil
}

// errFull ends a host that waits for room and is told to leave.
var errFull = errors.New("the disk is full, and the host was told to leave: what was recorded so far is kept, and the experiment can go on once there is room")

// keep records the step; a full disk is waited for (B-087).
func (l *Loop) keep() error {
	add := func() error { _, err := l.record.Append(l.records); return err }
	err := add()
	if !diskspace.IsFull(err) {
		return err
	}
	began := l.clock.Now()
	err = l.disk.Wait(l.leave, err, add)
	l.waited = l.clock.Since(began)
	if diskspace.IsFull(err) {
		return errFull
	}
	return err
}

// apply applies what was recorded, not what was meant to be.
func (l *Loop) apply(b []byte) error {
	s, err := l.history.Apply(b)
	if err != nil {
		return err
	}
	l.heard(s.Event)
	for _, a := range s.Actions {
		if _, last := a.(core.Finish); last {
			l.finished = true
		}
		l.crew.Do(a)
	}
	return nil
}

// Limits of lag (B-008).
const (
	lagEvents = maxBatchEvents / 4
	lagTime   = time.Minute
)

// watchLag warns once when for a minute there was always more to do than could
// be done.
func (l *Loop) watchLag(batch int) {
	now := l.clock.Now()
	switch {
	case batch < lagEvents:
		l.behind = time.Time{}
	case l.behind.IsZero():
		l.behind = now
	case l.clock.Since(l.behind) > lagTime:
		l.log.Once("lag", "results have arrived faster than they can be handled for a minute; report less often (once an epoch is enough), or run fewer trials at a time")
	}
}

// names numbers metrics in the order in which they are met.
type names struct{ ids map[string]core.MetricID }

func newNames() names { return names{map[string]core.MetricID{}} }

// number is that of a metric that has one.
func (n names) number(name string) core.MetricID { return n.ids[name] }

func (n names) id(name string) (id core.MetricID, isNew bool) {
	if id, ok := n.ids[name]; ok {
		return id, false
	}
	id = core.MetricID(len(n.ids) + 1)
	n.ids[name] = id
	return id, true
}
