package conformance_test

import (
	"context"
	"io"
	"testing"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/conformance/reference"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// lagging is the reference executor with an engine that counts what it has granted a moment later.
type lagging struct {
	sdk.CapacityExecutor
	seen [][]sdk.ClusterNode
}

// Capacity implements sdk.CapacityExecutor. It returns what was so at the call before.
func (l *lagging) Capacity(ctx context.Context) ([]sdk.ClusterNode, error) {
	now, err := l.CapacityExecutor.Capacity(ctx)
	l.seen = append(l.seen, now)
	return l.seen[max(0, len(l.seen)-2)], err
}

func (l *lagging) Close() error { return l.CapacityExecutor.(io.Closer).Close() }

// B-130: an engine that counts late is no engine that grants a lease twice.
func TestEngineThatCountsLate(t *testing.T) {
	p := reference.Executor
	p.Open = func(x sdk.Execution, options []byte, tell func(...sdk.LeaseEvent)) (sdk.Executor, sdk.ExecutorTraits,
		error) {
		inner, traits, err := reference.Executor.Open(x, options, tell)
		if err != nil {
			return nil, traits, err
		}
		late := &lagging{CapacityExecutor: inner.(sdk.CapacityExecutor)}
		_, err = late.Capacity(context.Background()) // of the engine without leases
		return late, traits, err
	}
	conformance.RunExecutor(t, conformance.InProcess(p))
}
