package guard

import (
	"context"
	"io"
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// A Reporter is an opened reporter.
type Reporter struct {
	mu    sync.Mutex
	impl  sdk.Reporter
	after uint64
}

// OpenReporter opens a reporter.
func OpenReporter(p sdk.ReporterPlugin, e sdk.Experiment, opts []byte) (*Reporter, error) {
	impl, after, err := open(func() (sdk.Reporter, uint64, error) { return p.Open(e, options(opts)) })
	return &Reporter{impl: impl, after: after}, err
}

// After returns the number of the last event that the reporter already has.
func (r *Reporter) After() uint64 { return r.after }

// Report implements sdk.Reporter.
func (r *Reporter) Report(ctx context.Context, events []sdk.ReporterEvent) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return protect("Report", func() error { return r.impl.Report(ctx, events) })
}

// Close closes the reporter if it is an io.Closer.
func (r *Reporter) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.impl.(io.Closer)
	if !ok {
		return nil
	}
	return protect("Close", c.Close)
}
