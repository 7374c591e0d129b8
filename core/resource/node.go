package resource

import (
	"errors"
	"slices"
	"strconv"
)

// MaxDevices is the largest number of devices of one node.
const MaxDevices = 1024

// A Node is a machine with its resources.
type Node struct {
	ID       uint32 `json:"id"`             // nodes are tried in the order of their ids
	Name     string `json:"name,omitempty"` // for messages
	Capacity Bundle `json:"capacity"`
	// Devices are the identifiers of the GPUs, as the driver numbers or names them, as many as
	// Capacity has of "gpu". The default is "0", "1", and so on.
	Devices []string `json:"devices,omitempty"`
}

// withDevices checks the devices against the capacity and numbers them if none are given.
func (n Node) withDevices() (Node, error) {
	gpus := n.Capacity.Get(GPU)
	count := gpus.whole()
	switch {
	case gpus != Whole(count):
		return n, n.problem("gpu " + gpus.String() + ": a node has whole GPUs")
	case count > MaxDevices:
		return n, n.problem("gpu " + gpus.String() + ": at most " + strconv.Itoa(MaxDevices) + " on one node")
	case len(n.Devices) != 0 && uint64(len(n.Devices)) != count:
		return n, n.problem(strconv.Itoa(len(n.Devices)) + " device ids for gpu " + gpus.String())
	}
	n.Devices = slices.Clone(n.Devices)
	for i := len(n.Devices); i < int(count); i++ {
		n.Devices = append(n.Devices, strconv.Itoa(i))
	}
	for i, id := range n.Devices {
		if id == "" || slices.Contains(n.Devices[:i], id) {
			return n, n.problem("device id " + strconv.Quote(clip(id)) + " is empty or given twice")
		}
	}
	return n, nil
}

func (n Node) problem(text string) error {
	return errors.New("node " + n.label() + ": " + text)
}

func (n Node) label() string {
	if n.Name != "" {
		return n.Name
	}
	return strconv.FormatUint(uint64(n.ID), 10)
}

// A node is a Node with its free resources. The ledger numbers the resources.
type node struct {
	spec  Node
	cap   []Amount
	free  []Amount
	share []uint32 // free millionths of each device
	idle  int      // devices that are entirely free
	load  uint32   // used part of the fullest resource, in 65536ths
	group int      // bundles of the current request on this node
	gone  bool     // removed; placements may still be held
	plain [1]Slot  // the slots of every placement of one bundle without devices on this node
}

// A need is a bundle in the ledger's numbers.
type need struct {
	wants []want
	devs  int    // whole devices
	share uint32 // millionths of one device, less than one device
}

type want struct {
	resource int
	amount   Amount
}

func (n *node) fits(b *need) bool {
	for i := range b.wants {
		if w := &b.wants[i]; n.free[w.resource].less(w.amount) {
			return false
		}
	}
	return n.idle >= b.devs && (b.share == 0 || n.fullest(b.share) >= 0)
}

// fullest returns the device with the least room that still has room for share, the first of
// equals, or -1.
func (n *node) fullest(share uint32) int {
	best := -1
	for i, free := range n.share {
		if free >= share && (best < 0 || free < n.share[best]) {
			best = i
		}
	}
	return best
}

// room returns how many bundles like b fit, at most limit.
func (n *node) room(b *need, limit int) int {
	left := uint64(max(0, limit))
	for _, w := range b.wants {
		left = min(left, w.amount.goesInto(n.free[w.resource]))
	}
	switch {
	case b.devs > 0:
		left = min(left, uint64(n.idle/b.devs))
	case b.share > 0:
		left = min(left, n.roomOnDevices(b.share))
	}
	return int(left)
}

func (n *node) roomOnDevices(share uint32) uint64 {
	total := uint64(0)
	for _, free := range n.share {
		total += uint64(free / share)
	}
	return total
}

// take grants b, which fits, and appends the granted devices to devs. A share goes to the device
// on, or to the fullest if on is negative.
func (n *node) take(b *need, on int, devs []uint16) []uint16 {
	for i := range b.wants {
		w := &b.wants[i]
		n.free[w.resource] = n.free[w.resource].Sub(w.amount)
	}
	n.weigh()
	if b.share > 0 {
		if on < 0 {
			on = n.fullest(b.share)
		}
		n.setShare(on, n.share[on]-b.share)
		return append(devs, uint16(on))
	}
	for i, left := 0, b.devs; left > 0; i++ {
		if n.share[i] == micro {
			n.setShare(i, 0)
			devs = append(devs, uint16(i))
			left--
		}
	}
	return devs
}

// give is the inverse of take.
func (n *node) give(b *need, devs []uint16) {
	for i := range b.wants {
		w := &b.wants[i]
		n.free[w.resource] = n.free[w.resource].Add(w.amount)
		if n.cap[w.resource].less(n.free[w.resource]) {
			panic("resource: more was given back than a node has")
		}
	}
	n.weigh()
	for _, d := range devs {
		back := b.share
		if back == 0 {
			back = micro
		}
		n.setShare(int(d), n.share[d]+back)
	}
}

func (n *node) setShare(dev int, free uint32) {
	if free > micro {
		panic("resource: a device is granted or given back beyond itself")
	}
	if n.share[dev] == micro {
		n.idle--
	}
	if free == micro {
		n.idle++
	}
	n.share[dev] = free
}

func (n *node) weigh() {
	n.load = 0
	for i, c := range n.cap {
		n.load = max(n.load, c.Sub(n.free[i]).ofWhole(c))
	}
}

// same reports whether n and m are equivalent for the current placement.
func (n *node) same(m *node) bool {
	return n.group == m.group && slices.Equal(n.free, m.free) && slices.Equal(n.share, m.share)
}
