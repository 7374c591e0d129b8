package effects

import (
	"fmt"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/untrusted"
)

// failingInARow is how many trials must fail in a row with the same message, before they have
// reported anything, until the user is warned that others will fail, too.
const failingInARow = 5

// failureStreak counts trials that fail in a row.
type failureStreak struct {
	cause  core.Cause // with the first line of its message, without the paths of the trial's own files
	trials int
}

// failed counts a trial that has ended, and warns when the streak gets long.
func (x *Effects) failed(no core.TrialNo, v core.View) {
	if v.State != core.Errored || v.Results > 0 {
		x.streak = failureStreak{}
		return
	}
	cause := v.Cause
	cause.Text, _, _ = strings.Cut(cause.Text, "\n")
	said := cause.String()
	cause.Text = strings.ReplaceAll(cause.Text, x.dirOf(no), "")
	if cause != x.streak.cause {
		x.streak = failureStreak{cause: cause}
	}
	x.streak.trials++
	if x.streak.trials == failingInARow && !x.stopsAtFailures() {
		x.log.Once("streak", fmt.Sprintf("%d trials in a row have failed with the same message before they reported "+
			"anything, and others may, too: %s; "+
			"Ctrl-C stops here, and budget: {trials_failed: N} or failures: {fail_fast: true} stop by themselves",
			failingInARow, untrusted.Line(said, untrusted.MaxText)))
	}
}

// stopsAtFailures reports whether the file lets failures end the experiment.
func (x *Effects) stopsAtFailures() bool {
	return x.experiment.Failures.FailFast || x.experiment.Failures.Raise || x.experiment.Budget.TrialsFailed > 0
}
