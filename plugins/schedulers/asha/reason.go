package asha

import (
	"strconv"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Reasons are built with append, because most results need one and formatting would cost more than
// deciding.

// notAmong returns "loss 0.41 at iteration 3 is not among the best 3 of 9 at rung 3 (0.35 or
// better)".
func (s *scheduler) notAmong(e *sdk.Event, t *trial, k int) string {
	text := make([]byte, 0, 128)
	text = s.objective.Append(text, s.objective.Loss(e))
	text = append(text, " at iteration "...)
	text = strconv.AppendUint(text, e.Iteration, 10)
	text = append(text, " is not "...)
	return string(s.among(text, &s.brackets[t.bracket], k))
}

// waits returns "waits at rung 3 for others (1 of 3)", or why the trial is not promoted.
func (s *scheduler) waits(e *sdk.Event, t *trial, k int) string {
	b := &s.brackets[t.bracket]
	if b.rungs[k].Best() > 0 {
		return s.notAmong(e, t, k)
	}
	text := append(make([]byte, 0, 64), "waits at rung "...)
	text = strconv.AppendUint(text, b.at[k], 10)
	text = append(text, " for others ("...)
	text = strconv.AppendInt(text, int64(b.rungs[k].Len()), 10)
	text = append(text, " of "...)
	text = strconv.AppendUint(text, s.options.Factor, 10)
	return string(append(text, ')'))
}

// among returns "among the best 3 of 9 at rung 3 (0.35 or better)".
func (s *scheduler) among(text []byte, b *bracket, k int) []byte {
	r := &b.rungs[k]
	text = append(text, "among the best "...)
	text = strconv.AppendInt(text, int64(r.Best()), 10)
	text = append(text, " of "...)
	text = strconv.AppendInt(text, int64(r.Len()), 10)
	text = append(text, " at rung "...)
	text = strconv.AppendUint(text, b.at[k], 10)
	if cut, ok := r.Cut(); ok {
		text = append(text, " ("...)
		text = s.objective.AppendValue(text, cut)
		text = append(text, " or better)"...)
	}
	return text
}

func (s *scheduler) finished() string {
	text := append(make([]byte, 0, 64), "finished: max is "...)
	text = strconv.AppendUint(text, s.options.Max, 10)
	return string(append(text, " iterations"...))
}

func (s *scheduler) leftBehind(number uint32) string {
	t := s.trials.At(number)
	at := s.brackets[t.bracket].at[t.next-1]
	return "not promoted from rung " + strconv.FormatUint(at, 10) + ", and no trial is left that could change that"
}
