package asha

import "github.com/tunehost/tunehost/plugins/sdk"

// release stops the trials that are held when nothing can promote them any
// more: no trial is left that could report, and none will be added.
func (s *scheduler) release(out *sdk.Decisions) {
	if s.active > 0 || len(s.held) == 0 || !s.gathered() {
		return
	}
	for _, number := range s.held {
		t := s.trials.At(number)
		if t.hold.Held() {
			t.hold.Order(sdk.Command{Kind: sdk.StopTrial, Trial: number, Reason: s.leftBehind(t)}, out)
		}
	}
	s.held = nil
}

// gathered says whether all trials were added.
func (s *scheduler) gathered() bool {
	return s.searchEnded || s.planned > 0 && s.added >= s.planned
}
