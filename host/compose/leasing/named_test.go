package leasing

import (
	"testing"

	"github.com/tunehost/tunehost/host/exec"
)

// An agent of an earlier host may be lost before this one knows its leases, or their nodes.
func TestAgentsBeforeTheirLeases(t *testing.T) {
	a := &agents{ready: make(chan struct{})}
	for range 2 {
		if got := a.named("x-1", 1); got != "the agent of bundle 1" {
			t.Error(got)
		}
		if a.granter == nil {
			a.own(exec.New(exec.Options{}))
		}
	}
}

func TestNamesOfAgents(t *testing.T) {
	for _, c := range []struct {
		node string
		of   int
		want string
	}{
		{"", 2, "the agent of bundle 1"},
		{"n2", 1, "the agent on the node n2"},
		{"n2", 2, "the agent of bundle 1 on the node n2"},
	} {
		if got := nameOf(c.node, 1, c.of); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
