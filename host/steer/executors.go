package steer

import (
	"fmt"

	"github.com/tunehost/tunehost/host/config"
)

// SameExecutor refuses another executor, or other options of it, while the experiment holds leases that a
// host has left behind: only the executor that granted them can adopt them or give them back.
func SameExecutor(was, now *config.Experiment, held int) error {
	name := was.Executor.Name
	switch _, other := config.OtherExecutor(was, now); {
	case held == 0 || !other:
		return nil
	case name == now.Executor.Name:
		return fmt.Errorf("the experiment holds leases of the executor %q (%d), which an earlier host has left: "+
			"resume with the earlier options, interrupt the host, and then change them", name, held)
	}
	return fmt.Errorf("the experiment holds leases of the executor %q (%d), which an earlier host has left: "+
		"resume with executor=%s, interrupt the host, and then change the executor", name, held, name)
}
