package coretest

import (
	"fmt"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
)

// leases returns the settings of leases with one more.
func leases(was *core.Leases, key, v string, n int64) *core.Leases {
	s := core.Leases{}
	if was != nil {
		s = *was
	}
	switch key {
	case "idle":
		s.IdleNS = int64(duration(v))
	case "own_requests":
		s.OwnRequests = true
	case "most":
		s.Most = uint32(n)
	}
	return &s
}

// lease returns the engine's message about a lease.
func (s *Story) lease(c command) ([]core.Event, error) {
	id := core.LeaseID(c.first())
	switch {
	case c.has("granted"):
		return []core.Event{&core.LeaseGranted{Lease: id, Bundles: c.bundles()}}, nil
	case c.has("pending"):
		return []core.Event{&core.LeasePending{Lease: id, Why: c.quoted()}}, nil
	case c.has("refused"):
		return []core.Event{&core.LeaseRefused{Lease: id, Why: c.quoted()}}, nil
	case c.has("ending"):
		return []core.Event{&core.LeaseEnding{Lease: id, At: s.M.Wall(s.at + int64(duration(c.text("in")))),
			Why: c.quoted()}}, nil
	case c.has("direct"), c.has("indirect"):
		return []core.Event{&core.LeaseRouted{Lease: id, Direct: c.has("direct"), Why: c.quoted()}}, nil
	case c.has("lost"):
		return []core.Event{&core.LeaseLost{Lease: id, Why: c.quoted()}}, nil
	}
	return nil, fmt.Errorf("lease %d: it is granted, pending, refused, ending, lost, direct or indirect", id)
}

// bundles returns the bundles of a grant: all GPUs of one node, or one of each.
func (c command) bundles() (list []core.LeasedBundle) {
	nodes, gpus := strings.Split(c.text("on"), ","), strings.Split(c.text("gpu"), ",")
	for i, name := range nodes {
		b := core.LeasedBundle{Node: name}
		switch {
		case !c.has("gpu"):
		case len(nodes) == 1:
			b.Devices = gpus
		default:
			b.Devices = gpus[i : i+1]
		}
		list = append(list, b)
	}
	return list
}

// leases prints the held leases.
func (s *Story) leases() string {
	var out strings.Builder
	for l := range s.M.Leases() {
		fmt.Fprintf(&out, "%d %s", l.ID, l.State)
		switch l.State {
		case core.LeaseUsed, core.LeaseEnds:
			fmt.Fprintf(&out, " by %d", l.Trial)
		default:
			fmt.Fprintf(&out, " for %s: %s", printFor(l.Trial), l.Request)
		}
		out.WriteString(s.printSlots(l.Slots))
		if l.Why != "" {
			out.WriteString(", " + l.Why)
		}
		out.WriteString("\n")
	}
	if out.Len() == 0 {
		return "none\n"
	}
	return out.String()
}

func printFor(no core.TrialNo) string {
	if no == core.NoTrial {
		return "any trial"
	}
	return fmt.Sprintf("trial %d", no)
}

func printAdopt(a core.AdoptLeases) string {
	if len(a.Leases) == 0 {
		return "adopt no lease\n"
	}
	return "adopt leases " + strings.Trim(fmt.Sprint(a.Leases), "[]") + "\n"
}

// printSlots prints where something runs. Nodes that have joined have numbers, those of an engine have
// names.
func (s *Story) printSlots(slots []resource.Slot) (text string) {
	for _, slot := range slots {
		name := fmt.Sprintf("n%d", slot.Node)
		if s.M.Spec().Leases != nil {
			name = s.M.NodeName(slot.Node)
		}
		text += " on " + name
		if len(slot.Devices) > 0 {
			text += " gpu " + strings.Join(slot.Devices, ",")
		}
	}
	return text
}
