package exec_test

import (
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// A grant of another shape than requested is a bug of the plugin: the lease is released.
func TestGrantsTooLittle(t *testing.T) {
	w := begin(t, &engine{})
	w.ask(1, "spread(cpu=1;cpu=1)")
	w.hears("LeasePending")
	w.engine.say(grant("x-1"))
	w.hears(`Why:executor "test" has granted 1 bundles of 2, which is a bug of it`)
	w.ends("adopt []", "allocate x-1 spread [[{cpu 1}] [{cpu 1}]]", "release [x-1]")
	w.warned("has granted 1 bundles of 2")
}

// The devices of a grant go into the environment of processes, and belong to one trial.
func TestGrantsWrongDevices(t *testing.T) {
	for _, c := range []struct {
		request string
		devices [][]string
		wrong   string // "": it is right
	}{
		{"gpu=2", [][]string{{"0"}}, "1 devices in a bundle of 2"},
		{"cpu=1", [][]string{{"0"}}, "1 devices in a bundle of 0"},
		{"gpu=0.5", [][]string{{}}, "0 devices in a bundle of 1"},
		{"gpu=1", [][]string{{"0,1"}}, `a device with the name "0,1"`},
		{"gpu=1", [][]string{{""}}, `a device with the name ""`},
		{"gpu=1", [][]string{{"0\n"}}, "a device with the name"},
		{"gpu=2", [][]string{{"0", "0"}}, `the device "0" twice`},
		{"pack(gpu=1;gpu=0.5)", [][]string{{"0"}, {"0"}}, `the device "0" twice`},
		{"pack(gpu=0.5;gpu=1)", [][]string{{"0"}, {"0"}}, `the device "0" twice`},
		{"pack(gpu=0.5;gpu=0.5)", [][]string{{"0"}, {"0"}}, ""},
		{"gpu=2", [][]string{{"0", "GPU-1"}}, ""},
	} {
		w := begin(t, &engine{})
		w.ask(1, c.request)
		w.hears("LeasePending")
		e := sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseGranted}
		for _, d := range c.devices {
			e.Bundles = append(e.Bundles, sdk.GrantedBundle{Node: "n", Devices: d})
		}
		w.engine.say(e)
		want := "LeaseGranted"
		if c.wrong != "" {
			want = "has granted " + c.wrong
		}
		w.hears(want)
		w.Close(t.Context())
		if c.wrong != "" {
			w.warned("has granted ")
		}
	}
}
