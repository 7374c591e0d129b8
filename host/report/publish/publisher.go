package publish

import (
	"context"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/view"
)

// Linger is how long events gather before they are made safe and published.
const Linger = 50 * time.Millisecond

// Publisher publishes events and calls functions with irreversible effects once the record is safe on
// disk: a loss of power never undoes a published event.
type Publisher struct {
	PublisherOptions
	listeners []Listener

	mu      sync.Mutex
	events  []view.Event
	actions []func() // to be called once the record is safe
	wake    chan struct{}
	closing chan struct{}
	done    chan struct{}
}

// PublisherOptions connect a Publisher with its host.
type PublisherOptions struct {
	// Sync makes the record safe against loss of power; its error goes to Fail, and nothing is published
	// then.
	Sync func() error
	Fail func(error)
	// Synced is called each time, after all listeners.
	Synced func()
	Clock  clock.Clock
}

// Listener receives events that are safe. It never waits. All listeners receive the same slice, so that none changes
// it.
type Listener interface {
	Put([]view.Event)
	// End is called after the last Put; Await waits until all events are received, or the context ends.
	End()
	Await(context.Context)
}

// NewPublisher returns a Publisher without listeners.
func NewPublisher(o PublisherOptions) *Publisher {
	return &Publisher{PublisherOptions: o, wake: make(chan struct{}, 1), closing: make(chan struct{}),
		done: make(chan struct{})}
}

// Listen adds listeners. It is called before Run.
func (p *Publisher) Listen(l ...Listener) { p.listeners = append(p.listeners, l...) }

// Tell publishes an event once the record is safe. Flush wakes the Publisher.
func (p *Publisher) Tell(e view.Event) {
	p.mu.Lock()
	p.events = append(p.events, e)
	p.mu.Unlock()
}

// Later calls a function once the record of everything so far is safe.
func (p *Publisher) Later(do func()) {
	p.mu.Lock()
	p.actions = append(p.actions, do)
	p.mu.Unlock()
}

// Flush wakes Run: there is something to publish or to do.
func (p *Publisher) Flush() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Waits reports whether Run was woken, for callers that call Publish themselves. It resets the
// wake-up.
func (p *Publisher) Waits() bool {
	select {
	case <-p.wake:
		return true
	default:
		return false
	}
}

// Run publishes until Close.
func (p *Publisher) Run() {
	defer close(p.done)
	for {
		select {
		case <-p.wake:
		case <-p.closing:
			p.Publish()
			return
		}
		select {
		case <-p.after(Linger):
		case <-p.closing:
		}
		p.Publish()
	}
}

func (p *Publisher) after(d time.Duration) <-chan struct{} {
	c := make(chan struct{})
	p.Clock.AfterFunc(d, func() { close(c) })
	return c
}

// Publish makes the record safe, then publishes the events and calls the functions that wait for
// it.
func (p *Publisher) Publish() {
	p.mu.Lock()
	events, deeds := p.events, p.actions
	p.events, p.actions = make([]view.Event, 0, len(events)), nil // expect as many again
	p.mu.Unlock()
	if err := p.Sync(); err != nil {
		p.Fail(err)
		return
	}
	for _, l := range p.listeners {
		l.Put(events)
	}
	for _, do := range deeds {
		do()
	}
	p.Synced()
}

// Close publishes the rest and waits for all listeners until the context ends.
func (p *Publisher) Close(ctx context.Context) {
	close(p.closing)
	<-p.done
	for _, l := range p.listeners {
		l.End()
	}
	for _, l := range p.listeners {
		l.Await(ctx)
	}
}
