package bridge

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"time"
)

// Config says how bytes get from the host to an agent.
type Config struct {
	// Host is sdk.Execution.Host.
	Host string
	// Open starts a bridge on the agent's node. The context ends with the lease. A bridge may be opened before its
	// agent runs; it waits for it.
	Open func(ctx context.Context) (io.ReadWriteCloser, error)
	// Warn is told why a bridge could not be opened, or has ended before it was used; nil: nobody is.
	Warn func(error)

	// pause waits before the next try; nil: by the clock.
	pause func(ctx context.Context, d time.Duration)
}

// The times of a bridge.
const (
	firstPause = 200 * time.Millisecond
	lastPause  = 30 * time.Second
	// steady is how long a connection lasts that is none of a series of failures.
	steady = 5 * time.Second
	// hurry bounds the pauses for a time after a connection that was used: an agent gives up what runs there within
	// a few seconds.
	hurry      = 400 * time.Millisecond
	hurryFor   = 10 * time.Second
	dialWithin = 10 * time.Second
)

// Run keeps a bridge open until the context ends, which is when its lease does: when one ends, it opens
// another one.
func Run(ctx context.Context, c Config) {
	if c.Warn == nil {
		c.Warn = func(error) {}
	}
	if c.pause == nil {
		c.pause = pause
	}
	tries, last := 0, time.Time{}
	for ctx.Err() == nil {
		began := time.Now()
		used, err := c.once(ctx)
		if err != nil && ctx.Err() == nil {
			c.Warn(err)
		}
		if tries++; used && time.Since(began) >= steady {
			tries = 0
		}
		if used {
			last = time.Now()
		}
		// An agent connects twice: for its certificate, and then for good.
		if !used || tries > 1 {
			c.pause(ctx, after(tries, time.Since(last) < hurryFor))
		}
	}
}

// after is how long to wait after so many tries.
func after(tries int, hurried bool) time.Duration {
	d := min(firstPause<<min(max(tries-1, 0), 16), lastPause)
	if hurried {
		d = min(d, hurry)
	}
	return d/2 + rand.N(d)
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// once opens a bridge and copies bytes until one side ends. It reports whether the host said something. The host is
// dialled when the agent says its first word: it would not wait for an agent that takes long.
func (c *Config) once(ctx context.Context) (used bool, err error) {
	bridge, err := c.Open(ctx)
	if err != nil {
		return false, err
	}
	defer bridge.Close()
	defer context.AfterFunc(ctx, func() { _ = bridge.Close() })()
	first := make([]byte, 32<<10)
	n, err := bridge.Read(first)
	if n == 0 {
		return false, err
	}
	host, err := (&net.Dialer{Timeout: dialWithin}).DialContext(ctx, "tcp", c.Host)
	if err != nil {
		return false, err
	}
	defer host.Close()
	if _, err := host.Write(first[:n]); err != nil {
		return false, err
	}
	return join(host, bridge), nil
}

// join copies both ways until one side ends, and closes both. It reports whether the host said something.
func join(host, bridge io.ReadWriteCloser) bool {
	said := make(chan int64, 1)
	done := make(chan struct{}, 2)
	for _, copies := range []func(){
		func() { _, _ = io.Copy(host, bridge) },
		func() {
			n, _ := io.Copy(bridge, host)
			said <- n
		},
	} {
		go func() {
			copies()
			done <- struct{}{}
		}()
	}
	<-done
	_, _ = host.Close(), bridge.Close()
	<-done
	return <-said > 0
}
