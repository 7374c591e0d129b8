package view

import "github.com/tunehost/tunehost/core"

// countEarly counts the trials that were ended before their own end. Those that never started are apart.
func countEarly(m *core.Machine) (n int) {
	m.EachTerminated(func(why core.Cause) {
		if stoppedEarly(why) {
			n++
		}
	})
	return n
}
