package consult

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/record"
	"github.com/tunehost/tunehost/host/config/request"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Decided translates a scheduler's answer to the due events. A due result without a decision
// continues. params returns the parameters that a command gives a trial.
func Decided(due []uint64, answer sdk.Decisions, params func(sdk.Command) ([]byte, error)) (*core.SchedulerDecided,
	error) {
	e := &core.SchedulerDecided{Decisions: make([]core.Decision, len(due))}
	for i, number := range due {
		e.Decisions[i] = core.Decision{Number: number}
	}
	for _, d := range answer.Decisions {
		i, ok := slices.BinarySearch(due, d.Event)
		if !ok {
			continue // not asked for
		}
		e.Decisions[i] = core.Decision{Number: d.Event, Verdict: core.Verdict(d.Verdict), Until: d.Until,
			Reason: reasonOf(d.Reason, d.Verdict != sdk.Continue)}
	}
	for _, c := range answer.Commands {
		x, err := ordered(c, params)
		if err != nil {
			return nil, err
		}
		e.Commands = append(e.Commands, x)
	}
	return e, nil
}

// noReason stands for an empty reason: without one, a trial that was stopped looks like a complete one.
const noReason = "the scheduler gave no reason"

// reasonOf is a reason as the record keeps it.
func reasonOf(text string, needed bool) string {
	text = untrusted.Text(text, untrusted.MaxReason)
	if needed && strings.TrimSpace(text) == "" {
		return noReason
	}
	return text
}

func ordered(c sdk.Command, params func(sdk.Command) ([]byte, error)) (core.Command, error) {
	x := core.Command{Kind: core.CommandKind(c.Kind), Trial: core.TrialNo(c.Trial), Donor: core.TrialNo(c.Donor),
		Iteration: c.Iteration, Reason: reasonOf(c.Reason, c.Kind == sdk.StopTrial || c.Kind == sdk.StopAll)}
	var err error
	if c.Point != nil {
		x.Params, err = params(c)
	}
	if err == nil && len(c.Resources) > 0 {
		x.Request, err = request.Parse(c.Resources)
	}
	return x, err
}

// recordable checks that an event is small enough for the record. It writes to scratch, and returns
// the extended scratch.
func recordable(scratch []byte, e core.Event) ([]byte, error) {
	b, err := record.Append(scratch[:0], 0, e)
	if err == nil && len(b) > maxRecord {
		err = fmt.Errorf("it has %d bytes in the record; at most %d", len(b), maxRecord)
	}
	return b, err
}

// maxRecord leaves room for the time.
const maxRecord = journal.MaxRecordBytes - 64
