package terminal

import (
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

// B-105: a mean is named by the runs that it is the mean of.
func TestBestNames(t *testing.T) {
	for want, runs := range map[string][]core.TrialNo{
		"trial 00004":                               nil,
		"trial 00005, the only run that counts":     {5},
		"the mean of trials 00004 and 00006":        {4, 6},
		"the mean of trials 00004 to 00006":         {4, 5, 6},
		"the mean of trials 00004 to 00005":         {4, 5},
		"the mean of trials 00003, 00004 and 00006": {3, 4, 6},
	} {
		b := &view.Ranked{MeanOf: runs}
		b.Number = 4
		if got := bestName(b); got != want {
			t.Errorf("%v: %q, want %q", runs, got, want)
		}
	}
}
