package startup

import (
	"cmp"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/usererror"
)

// affordable refuses copies of trials while the budget is used up: they would be made, and ended before they start.
// Failed trials that run again no longer count as failed, so that after resets only the time is certain.
func (h *Host) affordable(spec *core.Spec, resets int) error {
	again := &h.Setup.Options.Again
	if len(again.Copies)+len(again.Clones) == 0 || !h.Recovery.Begun {
		return nil
	}
	key := outOfTime(h.Setup.Machine, spec)
	if resets == 0 {
		key = cmp.Or(key, outOfFailures(h.Setup.Machine, spec), h.judged(spec))
	}
	if key == "" {
		return nil
	}
	flag := "--copy"
	if len(again.Copies) == 0 {
		flag = "--clone"
	}
	return usererror.Errorf("%s: the budget of the experiment is used up (%s), so that the new trial would end before "+
		"it starts: raise it first (`tunehost set DIR %[2]s=LIMIT`)", flag, key)
}

func outOfTime(m *core.Machine, spec *core.Spec) string {
	if limit := spec.Budget.TimeNS; limit > 0 && m.Counted() >= limit {
		return "budget.time"
	}
	return ""
}

func outOfFailures(m *core.Machine, spec *core.Spec) string {
	limit := spec.Budget.TrialsFailed
	if spec.Rules >= core.RulesV6 && limit > 0 && m.Count(core.Errored) >= int(limit) {
		return "budget.trials_failed"
	}
	return ""
}

// judged tests the expression of the budget, as the machine has it tested when a host begins.
func (h *Host) judged(spec *core.Spec) string {
	if spec.Rules >= core.RulesV7 && h.Recovery.Rules.Judge(h.Setup.Machine).Cause != nil {
		return "budget.when"
	}
	return ""
}
