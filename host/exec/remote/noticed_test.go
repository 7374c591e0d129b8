package remote

import (
	"context"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/agent"
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/exec"
)

// sessions are connections to the agents of the bundles of one lease.
type sessions []link.Session

func (s sessions) Session(_ context.Context, _ core.LeaseID, bundle int) (link.Session, error) {
	return s[bundle], nil
}

// warned is the connection to an agent whose engine can take its node away.
func warned(t *testing.T) (s link.Session, leave func()) {
	t.Helper()
	leaving := make(chan struct{})
	s, there := link.Pipe()
	a := agent.New(agent.Options{Dir: t.TempDir(), Leaving: leaving})
	go func() { _ = a.Serve(there) }()
	t.Cleanup(func() { _ = s.Close(); a.Close() })
	return s, func() { close(leaving) }
}

// A host that asks hears of the end of a node from each agent of its lease, also from one that hears of it a moment
// after the question.
func TestNoticed(t *testing.T) {
	first, _ := warned(t)
	second, leave := warned(t)
	ask := func(within time.Duration) bool {
		t.Helper()
		leaving, err := Noticed(sessions{first, second})(t.Context(), exec.Place{Lease: 1}, 2, within)
		if err != nil {
			t.Error(err)
		}
		return leaving
	}
	if ask(0) {
		t.Error("nothing was announced")
	}
	time.AfterFunc(50*time.Millisecond, leave)
	if !ask(time.Second) {
		t.Error("what is announced after the question is not said")
	}
	if !ask(0) {
		t.Error("what was announced before the question is not said")
	}
	_ = second.Close()
	if _, err := Noticed(sessions{first, second})(t.Context(), exec.Place{Lease: 1}, 2, 0); err == nil {
		t.Error("an agent that is not reached has answered")
	}
}

// An agent of an earlier version does not know the question: nothing is known of an end then.
func TestNoticedByAnOldAgent(t *testing.T) {
	s, there := link.Pipe()
	defer s.Close()
	go serve(there, hostile["refuses"].answer)
	if leaving, err := Noticed(sessions{s})(t.Context(), exec.Place{Lease: 1}, 1, 0); leaving || err != nil {
		t.Error(leaving, err)
	}
}
