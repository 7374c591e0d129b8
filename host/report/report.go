// Package report publishes what happened: in files in the trials' directories, on the terminal, as
// JSON lines, and through reporter plugins.
//
// Reporters receive only what is safe on disk, in the order of the events' numbers, in one goroutine
// each; a slow one never delays a trial (B-127). Package view defines events.
package report

import "github.com/tunehost/tunehost/host/view"

// Reporter receives events, in batches.
type Reporter interface {
	// Report is called by one goroutine. It does not change the events, which others have too. An error is logged once,
	// and the reporter is not called again.
	Report(events []view.Event) error
	// Close is called once, after the last event.
	Close() error
}
