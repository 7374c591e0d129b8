// Package consulting asks the searcher and the scheduler: it tells each what has
// happened, in order, and posts what it answers to the inbox. The loop waits for
// neither. A plugin that is beyond help ends the experiment, saved.
//
// Run does it in a goroutine for each; whoever turns a host by hand calls Turn.
package consulting

import (
	"time"

	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/snapshots"
)

// Options are what both work with.
type Options struct {
	Name      string // of the plugin
	Inbox     *inbox.Inbox
	Log       *hostlog.Log
	Clock     clock.Clock
	Slow      time.Duration // how long a call may take before it is named
	Snapshots *snapshots.Snapshots
}
