package coretest

import (
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
)

// Check verifies what must hold after every event, counted from the outside.
func Check(m *core.Machine) error {
	count := map[core.State]int{}
	for no := range m.Trials() {
		count[m.State(core.TrialNo(no))]++
	}
	for _, s := range []core.State{core.Pending, core.Running, core.Paused, core.Terminated, core.Errored} {
		if count[s] != m.Count(s) {
			return fmt.Errorf("%d trials are %s, but %d are counted", count[s], s, m.Count(s))
		}
	}
	if m.Running()+m.Orphans() != count[core.Running] {
		return fmt.Errorf("%d attempts hold resources, but %d trials are running", m.Running(), count[core.Running])
	}
	return checkResources(m, m.Running())
}

func checkResources(m *core.Machine, running int) error {
	for _, u := range m.Usage() {
		if !m.Overcommitted() && u.Total.Cmp(u.Used) < 0 {
			return fmt.Errorf("%s: more is granted than exists", u)
		}
		if running == 0 && u.Used != (resource.Amount{}) {
			return fmt.Errorf("%s: granted, but nothing runs", u)
		}
	}
	if o, _ := m.Outcome(); o != 0 && m.LeasesHeld() > 0 {
		return fmt.Errorf("the experiment is %s, but %d leases are held", o, m.LeasesHeld())
	}
	if o, _ := m.Outcome(); o != 0 && running+m.Orphans() > 0 {
		return fmt.Errorf("the experiment is %s, but %d trials run", o, running)
	}
	return nil
}
