package command

import (
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// A program without GPUs, in a trial that has some on other nodes, sees none of its own node's: these may be in use by
// other trials. Where the trial has none at all, the node decides.
func TestNoDevicesBesideOthers(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "7")
	a := &attempt{p: &program{o: &options{}}}
	a.trial.Bundles = []sdk.Bundle{{Node: "n1"}, {Node: "n2", Devices: []string{"0"}}}
	if got := a.visible(nil); got != "" {
		t.Errorf("it sees %q", got)
	}
	if got := a.visible([]string{"0"}); got != "0" {
		t.Errorf("it sees %q", got)
	}
	a.trial.Bundles = a.trial.Bundles[:1]
	if got := a.visible(nil); got != "7" {
		t.Errorf("it sees %q, want what its node has", got)
	}
}

// What another node shows to programs of itself does not count there: what was granted does.
func TestDevicesOnAnotherNode(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "0")
	t.Setenv(sdk.RanksVariable, "/socket")
	a := &attempt{p: &program{o: &options{}}, args: []string{"x"}}
	for _, c := range []struct {
		devices []string
		own     bool
	}{{[]string{"0"}, true}, {nil, false}} {
		a.trial.Bundles = []sdk.Bundle{{Node: "n1", Devices: c.devices}, {Node: "n2", Address: "n2"}}
		_, _, env, err := a.onItsNode("/x", []string{"CUDA_VISIBLE_DEVICES=0"}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if own := strings.Contains(strings.Join(env, " "), `["CUDA_VISIBLE_DEVICES"]`); own != c.own {
			t.Errorf("devices %v: %q", c.devices, env)
		}
	}
}
