package engine

import (
	"time"

	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/hostlog"
)

// Limits of lag (B-008).
const (
	lagEvents = maxBatchEvents / 4
	lagTime   = time.Minute
)

// lag measures how long the engine has been behind.
type lag struct {
	since time.Time // when it began to have more to do all the time
}

// watch warns once if for a minute there was always more to do.
func (l *lag) watch(batch int, c clock.Clock, log *hostlog.Log) {
	now := c.Now()
	switch {
	case batch < lagEvents:
		l.since = time.Time{}
	case l.since.IsZero():
		l.since = now
	case c.Since(l.since) > lagTime:
		log.Once("lag", "results have arrived faster than they can be handled for a minute; "+
			"report less often (once an epoch is enough), or run fewer trials at a time")
	}
}
