package terminal

import (
	"fmt"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

// maxReason is how much of the reason for the end fits the line; the summary has all of it.
const maxReason = 80

// maxAwaited is how much of the reason why leases wait fits the line; `tunehost status` has all of it.
const maxAwaited = 200

// statusLine returns the whole status on one line, for logs and pipes. Without the time it stays the
// same as long as nothing happens.
func statusLine(st view.Status) (line, withoutTime string) {
	done := fmt.Sprintf("%d/%s", ended(st), plural(int(max(st.Planned, st.Made)), "trial"))
	if st.Planned < 0 {
		done = plural(ended(st), "trial")
	}
	best := frontText(st)
	if best == "" && st.Best != nil && !st.Several {
		best = fmt.Sprintf("best %s %s by %s", clean(st.Objective.Metric), number(st.Best.Value, 5), bestName(st.Best))
	}
	withoutTime = join(stateText(st, false, maxReason), clean(st.Hint), done, strings.ReplaceAll(counts(st, false),
		" · ", ", "), cut(awaited(st), maxAwaited), best,
		strings.ReplaceAll(resources(st), " · ", ", "))
	return join(duration(st.Elapsed), withoutTime, overdue(st), st.Left.String()), withoutTime
}

// frontText counts the best trials of several objectives; "" if there is one objective, or they are not counted.
func frontText(st view.Status) string {
	if !st.Several || st.Front == 0 {
		return ""
	}
	return plural(st.Front, "trial") + " that no other beats"
}

// eventLine says in one line what happened to a trial; "" for unimportant events. A result shows the
// objective's metric, or all metrics.
func (p *Progress) eventLine(e *view.Event) string {
	name, paint := "trial "+trialName(e.Trial.Number), p.paint.paint
	switch e.Kind {
	case core.SawStarted:
		if e.Restored > 0 {
			return join(name+paint(cyan, " continues"),
				fmt.Sprintf("from iteration %d, attempt %d", e.Restored, e.Trial.Attempt))
		}
		return join(name+paint(cyan, " started"), paramText(readParams(e.Trial.Params, p.o.Choices)))
	case core.SawResult:
		return join(fmt.Sprintf("%s iteration %d", name, e.Result.Iteration),
			metricText(e.Result, p.metric, p.o.Verbosity >= All), duration(seconds(e.Result.TimeTotal)))
	case core.SawPaused:
		return join(name+paint(yellow, " paused"), clean(e.Reason))
	case core.SawCompleted, core.SawRemoved:
		return join(name+paint(green, " ended"), clean(e.Reason))
	case core.SawFailed:
		return join(name+paint(red, " failed"), clean(e.Failure()))
	case core.SawRequeued:
		return join(name+paint(yellow, " is queued again"), clean(e.Reason))
	}
	return ""
}

func metricText(r *view.Report, metric string, all bool) string {
	var parts []string
	for _, m := range r.Metrics {
		if all || m.Name == metric {
			parts = append(parts, clean(m.Name)+" "+number(m.Value, 5))
		}
	}
	return strings.Join(parts, ", ")
}
