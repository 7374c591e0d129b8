package slurm

import (
	"fmt"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Tasks of a step are alike, and the bundles of a lease may differ: each is granted what it asked for.
func TestStepsGrantWhatWasAsked(t *testing.T) {
	bundle := func(gpus float64) sdk.LeaseBundle {
		return sdk.LeaseBundle{{Name: "cpu", Value: 1}, {Name: "gpu", Value: gpus}}
	}
	places := map[int]where{0: {node: "n1", gpus: "0,1"}, 1: {node: "n2", gpus: "0,1"}, 2: {node: "n3", gpus: "0,1"},
		3: {node: "n4", gpus: "-"}}
	l := &step{request: &sdk.LeaseRequest{Bundles: []sdk.LeaseBundle{bundle(2), bundle(0.5), {{Name: "cpu", Value: 1}},
		bundle(1)}}}
	got := fmt.Sprint(devicesOf(l.granted(places)), devicesOf((&step{}).granted(places)))
	if want := "[[0 1] [0] [] []] [[0 1] [0 1] [0 1] []]"; got != want {
		t.Errorf("granted %s, want %s", got, want)
	}
}

func devicesOf(list []sdk.GrantedBundle) (devices [][]string) {
	for _, b := range list {
		devices = append(devices, b.Devices)
	}
	return devices
}
