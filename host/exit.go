package host

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// LastWord is how long a host that is told to leave at once has for its summary, or for
// the end of trials that are killed.
const LastWord = time.Second

// Exit is how the user's signals reach a host at work: a table that it shows says so
// itself, and a host that is to leave at once still says how the experiment stands. A
// nil Exit does nothing.
type Exit struct {
	mu    sync.Mutex
	out   io.Writer
	table bool // it has what out would
	asked bool
	text  string   // what was said or would have been
	host  liveHost // nil: no host is at work
}

// liveHost is a host that runs an experiment.
type liveHost interface {
	// sumUpNow says how the experiment stands, in any goroutine.
	sumUpNow()
	// endingForGood is how the experiment ends if the host leaves now.
	endingForGood() (Ended, bool)
}

// NewExit says to out what there is to say while no host shows a table.
func NewExit(out io.Writer) *Exit { return &Exit{out: out} }

// Ask notes that the user wants the host to end, and says text, unless there is a table.
func (x *Exit) Ask(text string) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked, x.text = true, text
	if !x.table {
		fmt.Fprintln(x.out, text)
	}
}

// Asked says whether the user wants the host to end.
func (x *Exit) Asked() bool {
	if x == nil {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.asked
}

// Now has the host say how the experiment stands, if it is at work, and returns soon,
// whatever becomes of that.
func (x *Exit) Now() {
	if x == nil {
		return
	}
	x.mu.Lock()
	host := x.host
	x.mu.Unlock()
	if host == nil {
		return
	}
	said := make(chan struct{})
	go func() { host.sumUpNow(); close(said) }()
	select {
	case <-said:
	case <-time.After(LastWord):
	}
}

// shows says that there is a table.
func (x *Exit) shows() {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.table = true
}

// remind says again what the table does not say any more, if the user has asked.
func (x *Exit) remind() {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.asked && x.table {
		fmt.Fprintln(x.out, x.text)
	}
}

// set sets the host that is at work; nil: none is any more.
func (x *Exit) set(host liveHost) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.host = host
}

// EndingForGood is how the experiment ends if it is ending for good, as after `tunehost
// stop`: an interrupt does not change that.
func (x *Exit) EndingForGood() (Ended, bool) {
	if x == nil {
		return Ended{}, false
	}
	x.mu.Lock()
	host := x.host
	x.mu.Unlock()
	if host == nil {
		return Ended{}, false
	}
	return host.endingForGood()
}
