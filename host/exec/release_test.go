package exec_test

import (
	"errors"
	"sync"
	"testing"
	"time"
)

// A lease whose request failed may still be held, so it is released.
func TestReleasedAfterFailure(t *testing.T) {
	timeout := errors.New("timeout")
	e := &engine{script: map[string][]error{"Allocate": {timeout, timeout, timeout}}}
	ready, released := make(chan *world, 1), make(chan struct{})
	var once sync.Once
	e.logged = func(string) { // of the third failure, before the next try
		once.Do(func() {
			(<-ready).release(1)
			close(released)
		})
	}
	w := begin(t, e)
	ready <- w
	w.ask(1, "cpu=1")
	w.hears("LeasePending &{Lease:1 Why:executor \"test\" failed: timeout}")
	<-released
	w.ends("adopt []", "release [x-1]")
}

// A lease that the core releases during the request is released.
func TestReleasedWhileAsked(t *testing.T) {
	e := &engine{silent: make(chan string, 1)}
	ready := make(chan *world, 1)
	e.during = func() { (<-ready).release(1) }
	w := begin(t, e)
	ready <- w
	w.ask(1, "cpu=1")
	<-e.silent
	w.ends("adopt []", "allocate x-1 pack [[{cpu 1}]]", "release [x-1]")
}

// A host that ends gives its leases back at once, and not only when the next try of a request that fails is due.
func TestReleasedAtTheEnd(t *testing.T) {
	limit := errors.New("a limit is reached")
	w := beginAt(t, &byHand{now: time.Unix(1, 0)}, &engine{script: map[string][]error{"Allocate": {limit, limit}}})
	w.ask(1, "cpu=1")
	w.hears("LeasePending &{Lease:1 Why:executor \"test\" failed: a limit is reached}")
	w.release(1) // time stands still: no other try is due
	w.ends("adopt []", "release [x-1]")
}
