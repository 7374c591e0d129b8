package host

import (
	"fmt"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/untrusted"
)

// failingInARow is how many trials fail one after the other with the same message, before
// they have reported anything, until the user hears that the others will, too.
const failingInARow = 5

// streak counts them.
type streak struct {
	cause  core.Cause // the first line of what was said
	trials int
}

// failed counts a trial that has ended, and says so when it makes the streak long.
func (x *effects) failed(v core.View) {
	if v.State != core.Errored || v.Results > 0 {
		x.streak = streak{}
		return
	}
	cause := v.Cause
	cause.Text, _, _ = strings.Cut(cause.Text, "\n")
	if cause != x.streak.cause {
		x.streak = streak{cause: cause}
	}
	x.streak.trials++
	if x.streak.trials == failingInARow && !x.stopsAtFailures() {
		x.log.Once("streak", fmt.Sprintf("%d trials in a row have failed with the same message before they reported anything, and others may, too: %s; "+
			"Ctrl-C stops here, and budget: {trials_failed: N} or failures: {fail_fast: true} stop by themselves",
			failingInARow, untrusted.Line(cause.String(), untrusted.MaxText)))
	}
}

// stopsAtFailures says whether the file has failures end the experiment.
func (x *effects) stopsAtFailures() bool {
	return x.experiment.Failures.FailFast || x.experiment.Failures.Raise || x.experiment.Budget.TrialsFailed > 0
}
