package exec

import (
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core"
)

// Place is where an attempt runs.
type Place struct {
	// Lease is the lease of the place; 0: the host granted resources of its own machine.
	Lease core.LeaseID
	// Node is the name of the node, or of the node of rank 0 for a group; "": any node.
	Node string
	// Devices are the ids of the GPUs, which are unique only within a node.
	Devices []string
}

// Serves reports whether a process that was started at this place may run an attempt at place o.
// Places with leases are the same if their leases are. Otherwise node and devices must be the same.
func (p Place) Serves(o Place) bool {
	if p.Lease != 0 || o.Lease != 0 {
		return p.Lease == o.Lease
	}
	return (p.Node == "" || p.Node == o.Node) && slices.Equal(p.Devices, o.Devices)
}

// Environment returns the variables that keep a process to its place, as NAME=VALUE.
func (p Place) Environment() []string {
	return []string{"CUDA_VISIBLE_DEVICES=" + strings.Join(p.Devices, ",")}
}
