//go:build !wasip1

package serve

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/stats"
)

// parentEvery is the polling interval for the parent process. A lost connection is noticed sooner;
// this is for a host that ended before it connected.
const parentEvery = time.Second

// A hostWatch detects the end of the host, for whatever reason (B-025).
type hostWatch struct {
	once sync.Once
	lost func()
}

// watchHost calls lost once when the parent process has changed.
func watchHost(lost func()) *hostWatch {
	w := &hostWatch{lost: lost}
	parent := os.Getppid()
	go func() {
		for range time.Tick(parentEvery) {
			if os.Getppid() != parent {
				w.gone()
				return
			}
		}
	}()
	return w
}

// disconnected is called when the host's last connection has ended: either the host has ended the
// plugin and the process is about to exit, or the host is gone.
func (w *hostWatch) disconnected() { time.AfterFunc(parentEvery, w.gone) }

// ended is called when the host has ended the plugin normally.
func (w *hostWatch) ended() { w.once.Do(func() {}) }

func (w *hostWatch) gone() { w.once.Do(w.lost) }

// connections counts the host's connections.
type connections struct {
	host  *hostWatch
	stdio *stdio
	open  atomic.Int32
}

// HandleConn implements stats.Handler.
func (c *connections) HandleConn(_ context.Context, s stats.ConnStats) {
	switch s.(type) {
	case *stats.ConnBegin:
		c.open.Add(1)
		c.stdio.restore()
	case *stats.ConnEnd:
		if c.open.Add(-1) == 0 {
			c.host.disconnected()
		}
	}
}

// TagConn implements stats.Handler.
func (*connections) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// TagRPC implements stats.Handler.
func (*connections) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (*connections) HandleRPC(context.Context, stats.RPCStats) {}

// stdio restores the process's stdout and stderr. go-plugin replaces os.Stdout and os.Stderr by
// pipes over the connection, which would lose the last output of a crashing plugin; output to file
// descriptor 2 is not lost. Output to descriptor 1 goes to stderr too, which the host reads as a
// log.
type stdio struct {
	out, err *os.File
	once     sync.Once
}

func newStdio() *stdio { return &stdio{out: os.Stdout, err: os.Stderr} }

// restore is called after go-plugin has replaced them, before the first connection is served.
func (s *stdio) restore() {
	s.once.Do(func() {
		os.Stdout, os.Stderr = s.err, s.err
		if joinOutputs() == nil {
			os.Stdout = s.out
		}
	})
}
