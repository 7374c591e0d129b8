package experiments

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/view"
)

const (
	// mostTours is how many readers of an experiment's record there are at a time: each has a state of its own, as
	// large as the experiment.
	mostTours = 2
	// keptParts is how many of the last parts a tour keeps for those of its riders that are slower.
	keptParts = 8
	// slow is how long a rider may take for a part while others wait for a place.
	slow = 5 * time.Second
)

// errSlow ends a stream. Its reader can ask for the rest.
var errSlow = errors.New("the reader is too slow, and others wait")

// tours read a record from its beginning for those who follow an experiment from an early event on. Readers that are at
// about the same place share a tour; those for whom there is none wait until one ends.
type tours struct {
	open func() (*view.EventLog, error)

	mu   sync.Mutex
	all  []*tour
	made int // so far
}

// tour is one reader of the record.
type tour struct {
	log *view.EventLog
	// parts have the events after from, up to last.
	parts      [][]view.Event
	from, last uint64
	riders     map[*rider]struct{}
	// read is closed when the part that is being read is there; nil: none is.
	read chan struct{}
}

// rider is a reader of events.
type rider struct {
	// after is the last event that it has.
	after uint64
	// waits says that there was no place for it.
	waits bool

	on *tour
	// took is when it took its last part; busy says that it waits for the next one.
	took time.Time
	busy bool
	cut  bool
}

// next returns some of the events after those that a rider has, up to one that is in the record; none: it waits for a
// place, or there are none.
func (g *tours) next(ctx context.Context, r *rider, through uint64) ([]view.Event, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r.busy = true
	defer func() { r.busy, r.took = false, time.Now() }()
	for {
		if err := g.board(r); err != nil || r.on == nil {
			return nil, err
		}
		if list := r.on.rest(r.after); len(list) > 0 {
			r.after = list[len(list)-1].Number
			return list, nil
		}
		if r.on.last >= through {
			r.after = through // what is between is no event
			return nil, nil
		}
		if err := g.ride(ctx, r.on, through); err != nil {
			return nil, err
		}
	}
}

// board gives a rider a place, if there is one.
func (g *tours) board(r *rider) error {
	if r.cut {
		return errSlow
	}
	if r.on != nil && r.on.from <= r.after {
		return nil
	}
	g.alight(r)
	for _, t := range g.all {
		if t.from <= r.after && (r.on == nil || r.on.from < t.from) {
			r.on = t
		}
	}
	if r.waits = r.on == nil && len(g.all) >= mostTours; r.waits {
		g.hurry(time.Now())
		return nil
	}
	if r.on == nil {
		log, err := g.open()
		if err != nil {
			return err
		}
		r.on = &tour{log: log, from: r.after, last: r.after, riders: map[*rider]struct{}{}}
		g.all, g.made = append(g.all, r.on), g.made+1
	}
	r.on.riders[r] = struct{}{}
	return nil
}

// hurry puts down riders that are too slow, for those who wait.
func (g *tours) hurry(now time.Time) {
	for _, t := range append([]*tour(nil), g.all...) {
		for r := range t.riders {
			if !r.busy && now.Sub(r.took) > slow {
				r.cut = true
				g.alight(r)
			}
		}
	}
}

// rest returns the first part with events after one.
func (t *tour) rest(after uint64) []view.Event {
	for _, part := range t.parts {
		for i := range part {
			if part[i].Number > after {
				return part[i:]
			}
		}
	}
	return nil
}

// ride reads the next part, or waits until another rider has done so.
func (g *tours) ride(ctx context.Context, t *tour, through uint64) error {
	if read := t.read; read != nil {
		g.mu.Unlock()
		defer g.mu.Lock()
		select {
		case <-read:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	t.read = make(chan struct{})
	from := t.last
	g.mu.Unlock()
	// It is for the others, too: they go on if this reader is gone.
	part, err := t.log.Next(context.WithoutCancel(ctx), from, through)
	g.mu.Lock()
	close(t.read)
	t.read = nil
	if err != nil {
		g.end(t)
		return err
	}
	t.last = through
	if n := len(part); n > 0 {
		t.last = part[n-1].Number
	}
	if t.parts = append(t.parts, part); len(t.parts) > keptParts {
		if first := t.parts[0]; len(first) > 0 {
			t.from = first[len(first)-1].Number
		}
		t.parts = t.parts[1:]
	}
	return ctx.Err()
}

// leave takes the place of a rider that needs none any more.
func (g *tours) leave(r *rider) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.alight(r)
}

func (g *tours) alight(r *rider) {
	t := r.on
	if r.on = nil; t == nil {
		return
	}
	if delete(t.riders, r); len(t.riders) == 0 {
		g.end(t)
	}
}

// end closes a tour; its riders find another.
func (g *tours) end(t *tour) {
	for i := range g.all {
		if g.all[i] == t {
			g.all = append(g.all[:i], g.all[i+1:]...)
			t.log.Close()
			break
		}
	}
	for r := range t.riders {
		r.on = nil
	}
}
