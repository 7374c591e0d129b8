package report

import (
	"cmp"

	"github.com/tunehost/tunehost/core"
)

// Failure is why an attempt failed, also one that is retried; "" for an event
// that is no failure.
func Failure(e Event) string {
	switch e.Kind {
	case core.SawFailed:
		return cmp.Or(e.Trial.Error, e.Reason, "failed")
	case core.SawRequeued:
		if e.Reason == "interrupted" || e.Reason == "reset after its error" {
			return e.Trial.Error // core's words for a requeue that no failure is behind
		}
		return cmp.Or(e.Trial.Error, e.Reason)
	}
	return ""
}
