package options

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// LastWord is how long a host that must end immediately may take for its summary, or wait for the
// trials that it killed.
const LastWord = time.Second

// Exit passes the user's signals to a running host. A host that shows a table shows in
// the table that it is ending, and a host that must end immediately still prints its summary. A nil
// Exit does nothing.
type Exit struct {
	mu    sync.Mutex
	out   io.Writer
	table bool // the table shows text
	asked bool
	text  string
	host  Live // nil: no host is at work
}

// Live is a host that runs an experiment. Its methods are called from any goroutine.
type Live interface {
	// SumUpNow prints the summary.
	SumUpNow()
	// EndingForGood returns how the experiment ends if the host ends now, if it is ending for
	// good.
	EndingForGood() (Ended, bool)
}

// NewExit returns an Exit that prints to out while no host shows a table.
func NewExit(out io.Writer) *Exit { return &Exit{out: out} }

// Ask notes that the user wants the host to end, and prints text unless there is a table.
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

// Asked reports whether the user wants the host to end.
func (x *Exit) Asked() bool {
	if x == nil {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.asked
}

// Now lets a running host print its summary, and returns within LastWord.
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
	go func() { host.SumUpNow(); close(said) }()
	select {
	case <-said:
	case <-time.After(LastWord):
	}
}

// Shows says that a table is shown.
func (x *Exit) Shows() {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.table = true
}

// Remind repeats the message when the table is gone, if the user has asked the host to end.
func (x *Exit) Remind() {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.asked && x.table {
		fmt.Fprintln(x.out, x.text)
	}
}

// Set sets the running host; nil: none.
func (x *Exit) Set(host Live) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.host = host
}

// EndingForGood returns how the experiment ends if it is ending for good, as after `tunehost
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
	return host.EndingForGood()
}
