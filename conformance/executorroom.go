package conformance

import (
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// waitsForRoom fills a small cluster with leases of a whole node each, and requests one more.
func waitsForRoom(s *subject, w struct{ Most int }) error {
	d, nodes, err := s.newCluster()
	if err != nil {
		return err
	}
	cpus, room := wholeNodes(nodes)
	if room == 0 || room > w.Most {
		return inapplicable(fmt.Sprintf("it has no room for 1 to %d leases of a whole node", w.Most))
	}
	var names []string
	var requests []sdk.LeaseRequest
	for n := range room + 1 {
		r := d.lease(n+1, 1, sdk.Amount{Name: "cpu", Value: cpus})
		names, requests = append(names, r.Lease), append(requests, r)
	}
	if err := d.executor.Allocate(s.ctx, requests); err != nil {
		return err
	}
	granted, err := d.someGranted(names, room)
	if err != nil {
		return err
	}
	if err := d.executor.Release(s.ctx, granted); err != nil {
		return err
	}
	_, err = d.someGranted(without(names, granted), 1)
	return err
}

// wholeNodes returns the CPUs of the largest free node, in whole CPUs, and how many leases of that size have room.
func wholeNodes(nodes []sdk.ClusterNode) (cpus float64, room int) {
	for _, n := range nodes {
		if !n.Down {
			cpus = max(cpus, math.Floor(sdk.LeaseBundle(n.Free).Get("cpu")))
		}
	}
	if cpus == 0 {
		return 0, 0
	}
	for _, n := range nodes {
		if !n.Down {
			room += int(sdk.LeaseBundle(n.Free).Get("cpu") / cpus)
		}
	}
	return cpus, room
}

// someGranted waits until a number of the leases are granted; none of them may be refused or lost.
func (d *executorHost) someGranted(names []string, number int) (granted []string, err error) {
	for {
		granted = nil
		for _, name := range names {
			switch e := d.last[name]; e.Kind {
			case sdk.LeaseGranted:
				granted = append(granted, name)
			case sdk.LeaseRefused, sdk.LeaseLost:
				return nil, wanted("a lease for which there is no room to wait", "%s: %s", e.Kind, oneLine(e.Why))
			}
		}
		if len(granted) >= number {
			return granted, nil
		}
		waits := fmt.Sprintf("a lease of a whole node to be granted, for which capacity lists room (%d of %d are "+
			"granted; it lists only nodes that leases can be on)", len(granted), number)
		if _, err := d.next(waits); err != nil {
			return nil, err
		}
	}
}

// without returns the names that are not among the others.
func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}
