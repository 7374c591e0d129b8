// Package report tells the world outside what happened: files in the trials'
// directories, the terminal, JSON lines, and reporters that are plugins.
//
// Reporters are told only what is safe on disk, in the order of the events'
// numbers, by one goroutine each; a slow one never holds up a trial (B-127). What an
// event looks like is package view's.
package report

import "github.com/tunehost/tunehost/host/view"

// Reporter is told events, in batches.
type Reporter interface {
	// Report is called by one goroutine. An error is logged once, and the
	// reporter is not called again.
	Report(events []view.Event) error
	// Close is called once, after the last event.
	Close() error
}
