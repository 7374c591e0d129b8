package conformance

import (
	"context"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Decide implements sdk.Scheduler. A new instance receives the history so far, and its answers to
// it are dropped.
func (m *restarted) Decide(ctx context.Context, events []sdk.Event) (sdk.Decisions, error) {
	m.calls++
	if m.calls%m.every == 0 {
		next, err := m.subject.scheduler(m.problem, nil)
		if err != nil {
			return sdk.Decisions{}, err
		}
		if _, err := next.Decide(ctx, m.before(len(m.acts))); err != nil {
			return sdk.Decisions{}, err
		}
		m.Scheduler = next
	}
	return m.Scheduler.Decide(ctx, events)
}
