package main

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host"
)

// B-024: timeout(1) sends its signal twice at once, and the run ends in order all the same. A later signal leaves
// at once.
func TestSignalSentTwice(t *testing.T) {
	for after, want := range map[time.Duration]bool{0: false, 999 * time.Millisecond: false, time.Second: true} {
		sendTwice(t, syscall.SIGTERM, after, want)
	}
	for after, want := range map[time.Duration]bool{0: false, 99 * time.Millisecond: false,
		100 * time.Millisecond: true} {
		sendTwice(t, syscall.SIGINT, after, want)
	}
}

func sendTwice(t *testing.T, s syscall.Signal, after time.Duration, want bool) {
	t.Helper()
	p := play(host.Ended{}, nil)
	aborted := atomic.Bool{}
	p.engine.abort = func() { aborted.Store(true) }
	looks, seen := 0, make(chan bool)
	p.now = func() time.Time { // after each signal
		if looks++; looks == 2 {
			close(seen)
			return time.Unix(0, 0).Add(after)
		}
		return time.Unix(0, 0)
	}
	ended, err := p.untilSignalled(host.NewExit(&p.err), func(ctx context.Context) (host.Ended, error) {
		send(t, s)
		<-ctx.Done()
		send(t, s)
		<-seen
		if want { // nothing else ends it
			<-t.Context().Done()
		}
		return host.Ended{Outcome: core.InterruptedByUser}, nil
	})
	var status exitError
	if errors.As(err, &status) != want || aborted.Load() != want ||
		(ended.Outcome == core.InterruptedByUser) == want {
		t.Errorf("%v after %v: aborted %v, %v, %v", s, after, aborted.Load(), ended, err)
	}
}

func send(t *testing.T, s syscall.Signal) {
	if err := syscall.Kill(os.Getpid(), s); err != nil {
		t.Error(err)
	}
}

func TestSignalAgain(t *testing.T) {
	first := request{syscall.SIGTERM, time.Unix(0, 0)}
	for _, c := range []struct {
		s     os.Signal
		after time.Duration
		want  bool
	}{
		{syscall.SIGTERM, 0, false}, {syscall.SIGTERM, time.Second, true}, {os.Interrupt, 0, true},
		{syscall.SIGHUP, 0, true}, {syscall.SIGUSR1, time.Hour, false},
	} {
		if got := first.again(c.s, first.at.Add(c.after)); got != c.want {
			t.Errorf("%v after %v: %v", c.s, c.after, got)
		}
	}
	byHand := request{os.Interrupt, time.Unix(0, 0)}
	if !byHand.again(syscall.SIGTERM, byHand.at) {
		t.Error("SIGTERM after Ctrl-C does not count")
	}
}
