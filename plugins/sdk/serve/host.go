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

// parentEvery is how often the parent process is looked at. The connection
// tells sooner; this is for a host that ended before it connected.
const parentEvery = time.Second

// hostWatch notices that the host is gone, however it ended (B-025).
type hostWatch struct {
	once sync.Once
	lost func()
}

// watchHost calls lost, once, when the parent process has changed.
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

// disconnected is called when the host's last connection ended: either the host
// has ended the plugin and the process is about to exit, or the host is gone.
func (w *hostWatch) disconnected() { time.AfterFunc(parentEvery, w.gone) }

// ended tells that the host has ended the plugin in order.
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

// stdio gives the process its own stdout and stderr back. go-plugin replaces
// os.Stdout and os.Stderr by pipes that it sends over the connection, so that the
// last words of a crashing plugin are lost; on file descriptor 2 they are not.
// What is printed to descriptor 1 goes to stderr, too, where the host reads a log.
type stdio struct {
	out, err *os.File
	once     sync.Once
}

func newStdio() *stdio { return &stdio{out: os.Stdout, err: os.Stderr} }

// restore is called once go-plugin has done so, which is before the first
// connection is served.
func (s *stdio) restore() {
	s.once.Do(func() {
		os.Stdout, os.Stderr = s.err, s.err
		if joinOutputs() == nil {
			os.Stdout = s.out
		}
	})
}
