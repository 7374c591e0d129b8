package telling

import (
	"context"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/view"
)

// Linger is how long events gather before they are made safe and told.
const Linger = 50 * time.Millisecond

// Publisher tells reporters what happened, and does what cannot be taken back,
// once the record of it is safe on disk: a loss of power never takes back what
// somebody was told.
type Publisher struct {
	PublisherOptions
	listeners []Listener

	mu      sync.Mutex
	events  []view.Event
	deeds   []func() // what rests on the record
	wake    chan struct{}
	closing chan struct{}
	done    chan struct{}
}

// PublisherOptions are all that a Publisher knows of its host.
type PublisherOptions struct {
	// Sync makes the record safe against loss of power; its error goes to Fail,
	// and nobody is told anything.
	Sync func() error
	Fail func(error)
	// Synced is called each time, after everybody was told.
	Synced func()
	Clock  clock.Clock
}

// Listener is told what is safe. It never waits.
type Listener interface {
	Put([]view.Event)
	// End is called after the last Put; Await waits until all is heard, or the
	// context ends.
	End()
	Await(context.Context)
}

// NewPublisher has nobody to tell yet.
func NewPublisher(o PublisherOptions) *Publisher {
	return &Publisher{PublisherOptions: o, wake: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{})}
}

// Listen adds listeners. It is called before Run.
func (p *Publisher) Listen(l ...Listener) { p.listeners = append(p.listeners, l...) }

// Tell has an event told once the record is safe. Flush says that there is something.
func (p *Publisher) Tell(e view.Event) {
	p.mu.Lock()
	p.events = append(p.events, e)
	p.mu.Unlock()
}

// Later does something once the record of all that has happened is safe.
func (p *Publisher) Later(do func()) {
	p.mu.Lock()
	p.deeds = append(p.deeds, do)
	p.mu.Unlock()
}

// Flush wakes Run: there is something to tell or to do.
func (p *Publisher) Flush() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Waits says whether Run has been woken; for those who call Publish themselves. Asking
// settles it.
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

// Publish makes the record safe, then tells and does what rests on it.
func (p *Publisher) Publish() {
	p.mu.Lock()
	events, deeds := p.events, p.deeds
	p.events, p.deeds = make([]view.Event, 0, len(events)), nil // as many may come again
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

// Close tells the rest and waits for all listeners until the context ends.
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
