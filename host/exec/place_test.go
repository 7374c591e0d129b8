package exec

import "testing"

// B-110, B-111: a process is kept for trials at its own place. Ids of devices say nothing across
// nodes, and nothing across leases.
func TestServes(t *testing.T) {
	for _, c := range []struct {
		process, trial Place
		want           bool
	}{
		{Place{Node: "n1", Devices: []string{"0"}}, Place{Node: "n1", Devices: []string{"0"}}, true},
		{Place{Node: "n1", Devices: []string{"0"}}, Place{Node: "n2", Devices: []string{"0"}}, false},
		{Place{Node: "n1", Devices: []string{"0"}}, Place{Node: "n1", Devices: []string{"1"}}, false},
		{Place{Node: "n1"}, Place{Node: "n1", Devices: []string{"1"}}, false},
		{Place{}, Place{Node: "n1"}, true}, // it was started before any trial
		{Place{}, Place{Node: "n1", Devices: []string{"1"}}, false},
		{Place{Lease: 1, Node: "n1"}, Place{Lease: 1, Node: "n1"}, true},
		{Place{Lease: 1, Node: "n1"}, Place{Lease: 2, Node: "n1"}, false},
		{Place{Node: "n1"}, Place{Lease: 2, Node: "n1"}, false},
		{Place{}, Place{Lease: 2, Node: "n1"}, false},
	} {
		if got := c.process.Serves(c.trial); got != c.want {
			t.Errorf("a process at %+v for a trial at %+v: %t", c.process, c.trial, got)
		}
	}
}
