package view

import "github.com/tunehost/tunehost/core"

// countEarly counts the trials that were ended before their own end. Those that never started are apart.
func countEarly(m *core.Machine) (n int) {
	for no, left := core.TrialNo(0), m.Count(core.Terminated); left > 0; no++ {
		if m.State(no) != core.Terminated {
			continue
		}
		left--
		if v := m.View(no); !v.NeverStarted && stoppedEarly(v.Cause) {
			n++
		}
	}
	return n
}
