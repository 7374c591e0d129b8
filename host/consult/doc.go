// Package consult asks the searcher and the scheduler: it tells each what has happened, in order, and
// posts the answers to the inbox. The loop waits for neither. A plugin that has failed for good ends
// the experiment, saved.
//
// Run does this in a goroutine for each; a stepped host calls Turn instead.
package consult

import (
	"time"

	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/consult/snapshots"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
)

// Options are common to both drivers.
type Options struct {
	Name      string // of the plugin
	Inbox     *inbox.Inbox
	Log       *hostlog.Log
	Clock     clock.Clock
	Slow      time.Duration // how long a call may take before it is named
	Snapshots *snapshots.Snapshots
}
