package exec

import (
	"strings"
	"testing"
)

// A reason names a node if it has its name, and not if it has that of another node which begins or ends alike.
func TestNamesOfNodesInReasons(t *testing.T) {
	for why, want := range map[string]bool{"the setup failed on the node n1: no licence": true, "n1 is drained": true,
		"it was on n1": true, "n0,n1": true, "the job on n1.": true, "the node n10 failed": false, "an1": false,
		"n1-a": false, "the node n1.site": false, "n10, n1": true, "": false} {
		if got := mentions(why, "n1"); got != want {
			t.Errorf("%q mentions n1: %v", why, got)
		}
	}
	l, g := &lease{nodes: []string{"n1"}}, New(Options{Title: "x"})
	if got := g.known(1, l, "the node n10 failed"); !strings.HasSuffix(got, " of x on the node n1") {
		t.Error(got)
	}
}

// An executor may know no names of nodes.
func TestNodesWithoutNames(t *testing.T) {
	for want, nodes := range map[string][]string{"the nodes are granted": {"", ""},
		"the node n1 is granted": {"", "n1"}, "the nodes n1,n2 are granted": {"n2", "n1", "n2"}} {
		if got := (&lease{nodes: nodes}).joiningOn(); got != want {
			t.Errorf("%q: %s", nodes, got)
		}
	}
}
