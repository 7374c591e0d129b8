package resource_test

import (
	"fmt"
	"strings"

	"github.com/tunehost/tunehost/core/resource"
)

// A machine with eight CPUs and two GPUs runs trials with half a GPU each, then a group of a head
// and two workers.
func Example() {
	capacity, err := resource.ParseBundle("cpu=8,gpu=2,memory=32GiB")
	check(err)
	l := resource.NewLedger()
	check(l.AddNode(resource.Node{ID: 0, Name: "lab", Capacity: capacity}))

	half, err := resource.ParseRequest("cpu=1,gpu=0.5")
	check(err)
	fmt.Println("room for", l.Room(half, 100), "trials of", half)
	first, _ := l.Place(half)
	second, _ := l.Place(half)
	fmt.Println("both on GPU", first.Slots[0].Devices, second.Slots[0].Devices)

	group, err := resource.ParseRequest("strict_pack(cpu=1;cpu=2,gpu=1;cpu=2,gpu=1)")
	check(err)
	_, ok := l.Place(group)
	fmt.Println(group, "now:", ok)
	check(l.Release(first))
	check(l.Release(second))
	_, ok = l.Place(group)
	fmt.Println("after two releases:", ok)
	fmt.Println(l.Usage())

	big, err := resource.ParseRequest("cpu=1,gpu=4")
	check(err)
	_, short := l.FitsEver(big)
	fmt.Println(strings.ReplaceAll(short.Error(), "; ", ";\n"))

	// Output:
	// room for 4 trials of cpu 1, gpu 0.5
	// both on GPU [0] [0]
	// strict_pack of (cpu 1) + 2 × (cpu 2, gpu 1) now: false
	// after two releases: true
	// [cpu 5/8 gpu 2/2 memory 0/32GiB]
	// resources: asked for cpu 1, gpu 4;
	// no node has that much;
	// there is cpu 8, gpu 2, memory 32GiB on node lab;
	// the nearest that fits is cpu 1, gpu 2 on node lab
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
