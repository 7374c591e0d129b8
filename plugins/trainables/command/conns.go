package command

import (
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/channel"
)

// maxConnections is the maximum number of connections of one trial; a program that needs more has a
// bug.
const maxConnections = 256

// connections are those of an attempt's channel.
type connections struct {
	a       *attempt
	serving sync.WaitGroup

	mu    sync.Mutex
	open  map[*os.File]bool
	waits int   // reports without an answer
	ends  error // why the program must stop, for the answer to a report
}

// accept adds a connection.
func (c *connections) accept(f *os.File) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= maxConnections {
		f.Close()
		c.a.results.hint("connections", "more than %d connections at a time to the report channel; the others are "+
			"closed", maxConnections)
		return
	}
	if c.open == nil {
		c.open = map[*os.File]bool{}
	}
	c.open[f] = true
	c.serving.Go(func() { c.serve(f) })
}

func (c *connections) serve(f *os.File) {
	_ = channel.Serve(f, c)
	c.mu.Lock()
	delete(c.open, f)
	c.mu.Unlock()
	f.Close()
}

// drain answers the remaining reports and ends the connections. All possible writers are dead, or
// strangers.
func (c *connections) drain() {
	c.mu.Lock()
	for f := range c.open {
		if raw, err := f.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { _ = syscall.Shutdown(int(fd), syscall.SHUT_RDWR) })
		}
	}
	c.mu.Unlock()
	c.serving.Wait()
}

func (c *connections) waiting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waits > 0
}

// Report implements channel.Handler.
func (c *connections) Report(res sdk.Result) (channel.Decision, error) {
	r := &c.a.results
	c.a.heard.reset()
	if res.Checkpoint != "" {
		dir, err := r.checkpoint(res.Checkpoint)
		if err != nil {
			return "", err
		}
		res.Checkpoint = dir
	}
	if !r.claimChannel() {
		return "", r.twoWays()
	}
	c.begin()
	answer := make(chan channel.Decision, 1)
	r.reportedWrong(&res)
	r.reported(item{res, answer})
	d := c.answer(<-answer)
	c.a.heard.reset()
	if d == unanswered {
		return "", channel.ErrNoAnswer
	}
	return d, nil
}

// stop stops the program: by the answer that it waits for, or at once.
func (c *connections) stop(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ends = cause; c.waits == 0 {
		c.a.results.stop(cause, false)
	}
}

func (c *connections) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits++
}

// answer ends the wait of one report. If a stop arrived after its decision, the last answer
// contains it.
func (c *connections) answer(d channel.Decision) channel.Decision {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits--
	if d == unanswered {
		return d
	}
	if c.ends != nil && c.waits == 0 {
		return c.a.results.stop(c.ends, true)
	}
	return d
}

// maxRejected limits the lines logged in full, so that garbage cannot fill the log. The rest is counted.
const maxRejected = 10

// Reject implements channel.Handler.
func (c *connections) Reject(line []byte, why error) {
	r := &c.a.results
	r.mu.Lock()
	r.rejected++
	n := r.rejected
	r.mu.Unlock()
	if n <= maxRejected {
		c.a.reject(fmt.Sprintf("%v: %.200q", why, line))
	}
}

// sumRejected counts the lines that were refused, at the end, if not all were logged.
func (a *attempt) sumRejected() {
	a.results.mu.Lock()
	n := a.results.rejected
	a.results.mu.Unlock()
	if n > maxRejected {
		a.reject(fmt.Sprintf("%d lines were refused in all; only the first %d are logged", n, maxRejected))
	}
}

func (a *attempt) reject(text string) {
	if r, ok := a.run.(sdk.Rejecter); ok {
		r.Reject(text)
		return
	}
	a.run.Log("refused a report: " + text)
}
