package remote

import (
	"context"
	"errors"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/exec"
)

// Noticed returns a function that reports whether an agent of the lease of a place has heard that its engine takes the
// node away. Agents that have not may still hear of it within a time. An error says that an agent cannot be reached.
func Noticed(to Sessions) func(ctx context.Context, at exec.Place, bundles int, within time.Duration) (bool, error) {
	return func(ctx context.Context, at exec.Place, bundles int, within time.Duration) (bool, error) {
		return noticedByAny(ctx, to, at.Lease, bundles, within)
	}
}

func noticedByAny(ctx context.Context, to Sessions, lease core.LeaseID, bundles int, within time.Duration) (bool,
	error) {
	type answer struct {
		leaving bool
		err     error
	}
	answers := make(chan answer, bundles)
	for bundle := range bundles {
		go func() {
			leaving, err := noticed(ctx, to, lease, bundle, within)
			answers <- answer{leaving, err}
		}()
	}
	var all answer
	for range bundles {
		a := <-answers
		all.leaving, all.err = all.leaving || a.leaving, errors.Join(all.err, a.err)
	}
	return all.leaving, all.err
}

func noticed(ctx context.Context, to Sessions, lease core.LeaseID, bundle int, within time.Duration) (bool, error) {
	s, err := to.Session(ctx, lease, bundle)
	if err != nil {
		return false, err
	}
	return askNotice(ctx, s, within)
}

func askNotice(ctx context.Context, s link.Session, within time.Duration) (bool, error) {
	var n message.Noticed
	conn, err := Ask(ctx, s, message.StreamNotice, message.Notice{Within: within}, &n)
	if err == nil {
		_ = conn.Close()
	}
	if _, old := errors.AsType[*message.Refusal](err); old { // an agent of an earlier version
		return false, nil
	}
	return n.Leaving, err
}
