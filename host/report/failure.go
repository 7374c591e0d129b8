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
		if !e.Retried {
			return e.Trial.Error
		}
		return cmp.Or(e.Trial.Error, e.Reason)
	}
	return ""
}
