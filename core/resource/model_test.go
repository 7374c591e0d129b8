package resource

import (
	"fmt"
	"slices"
	"strconv"

	"pgregory.net/rapid"
)

// A model is a slow and simple ledger: it has nodes and grants, recomputes what is free each time,
// and decides whether a request fits by trying every node and every set of devices for each bundle.
type model struct {
	nodes []Node
	held  []grant
}

type grant struct {
	request   Request
	placement Placement
}

type room struct {
	node    int
	amounts map[string]int64 // millionths
	devices []int64
}

func millionths(a Amount) int64 { return toBig(a).Int64() }

// free returns the resources left after the grants, and an error if a rule is violated.
func (m *model) free() ([]room, error) {
	var rooms []room
	for i, n := range m.nodes {
		r := room{node: i, amounts: map[string]int64{}, devices: slices.Repeat([]int64{1e6}, len(n.Devices))}
		for _, it := range n.Capacity.Items() {
			r.amounts[it.Name] = millionths(it.Amount)
		}
		rooms = append(rooms, r)
	}
	for _, g := range m.held {
		if err := m.subtract(rooms, g); err != nil {
			return nil, err
		}
	}
	return rooms, nil
}

func (m *model) subtract(rooms []room, g grant) error {
	bundles := g.request.Bundles()
	if len(g.placement.Slots) != len(bundles) {
		return fmt.Errorf("%d slots for %v", len(g.placement.Slots), g.request)
	}
	used := map[uint32]bool{}
	for i, b := range bundles {
		slot := g.placement.Slots[i]
		used[slot.Node] = true
		at := slices.IndexFunc(m.nodes, func(n Node) bool { return n.ID == slot.Node })
		if at < 0 {
			continue // the node was removed with its grants
		}
		if err := m.subtractOne(rooms[at], b, slot.Devices); err != nil {
			return fmt.Errorf("%v on node %d: %w", g.request, slot.Node, err)
		}
	}
	s := g.request.Strategy()
	if s == StrictPack && len(used) != 1 || s == StrictSpread && len(used) != len(bundles) {
		return fmt.Errorf("%v stands on %d nodes", g.request, len(used))
	}
	return nil
}

func (m *model) subtractOne(r room, b Bundle, ids []string) error {
	for _, it := range b.Items() {
		r.amounts[it.Name] -= millionths(it.Amount)
		if r.amounts[it.Name] < 0 {
			return fmt.Errorf("too much %s", it.Name)
		}
	}
	gpus := millionths(b.Get(GPU))
	each, count := gpus, 1
	if gpus >= 1e6 {
		each, count = 1e6, int(gpus/1e6)
	}
	if gpus == 0 {
		count = 0
	}
	if len(ids) != count {
		return fmt.Errorf("%d devices", len(ids))
	}
	for _, id := range ids {
		d := slices.Index(m.nodes[r.node].Devices, id)
		if r.devices[d] -= each; r.devices[d] < 0 {
			return fmt.Errorf("device %s is granted beyond itself", id)
		}
	}
	return nil
}

// feasible tries everything.
func feasible(rooms []room, r Request) bool {
	return tryBundles(rooms, r.Bundles(), r.Strategy(), nil)
}

func tryBundles(rooms []room, bundles []Bundle, s Strategy, used []int) bool {
	if len(bundles) == 0 {
		return true
	}
	for i := range rooms {
		if s == StrictSpread && slices.Contains(used, i) || s == StrictPack && len(used) > 0 && used[0] != i {
			continue
		}
		for _, after := range ways(rooms[i], bundles[0]) {
			next := slices.Clone(rooms)
			next[i] = after
			if tryBundles(next, bundles[1:], s, append(slices.Clone(used), i)) {
				return true
			}
		}
	}
	return false
}

// ways returns the rooms that b may leave.
func ways(r room, b Bundle) []room {
	left := map[string]int64{}
	for name, n := range r.amounts {
		left[name] = n
	}
	for _, it := range b.Items() {
		if left[it.Name] -= millionths(it.Amount); left[it.Name] < 0 {
			return nil
		}
	}
	var all []room
	for _, devices := range deviceWays(r.devices, millionths(b.Get(GPU)), 0) {
		all = append(all, room{r.node, left, devices})
	}
	return all
}

func deviceWays(devices []int64, gpus int64, from int) [][]int64 {
	if gpus == 0 {
		return [][]int64{devices}
	}
	part := min(gpus, 1e6)
	var all [][]int64
	for d := from; d < len(devices); d++ {
		if devices[d] >= part {
			next := slices.Clone(devices)
			next[d] -= part
			all = append(all, deviceWays(next, gpus-part, d+1)...)
		}
	}
	return all
}

// The functions below draw small clusters and requests that often nearly fit.

func drawItem(t *rapid.T, name string, quarters int) Item {
	n := rapid.IntRange(0, quarters).Draw(t, name)
	return Item{name, Whole(uint64(n)).quarter()}
}

func (a Amount) quarter() Amount {
	q, _ := a.div(4)
	return q
}

func drawNode(t *rapid.T, id uint32) Node {
	gpus := rapid.IntRange(0, 2).Draw(t, "gpus")
	b, err := NewBundle(drawItem(t, "cpu", 12), drawItem(t, "a", 4), Item{GPU, Whole(uint64(gpus))})
	if err != nil {
		t.Fatal(err)
	}
	n := Node{ID: id, Capacity: b}
	for d := range gpus {
		n.Devices = append(n.Devices, "GPU-"+strconv.Itoa(int(id))+"-"+strconv.Itoa(d))
	}
	return n
}

func drawBundle(t *rapid.T) Bundle {
	gpu := rapid.SampledFrom([]string{"0", "0", "0.25", "0.3", "0.5", "0.6", "1", "2"}).Draw(t, "gpu")
	share, err := ParseAmount(gpu)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBundle(drawItem(t, "cpu", 6), drawItem(t, "a", 2), Item{GPU, share})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func drawRequest(t *rapid.T, most int) Request {
	kinds := rapid.SliceOfN(rapid.Custom(drawBundle), 1, most).Draw(t, "kinds")
	bundles := rapid.SliceOfN(rapid.SampledFrom(kinds), 1, most).Draw(t, "bundles")
	r, err := NewRequest(Strategy(rapid.IntRange(0, 3).Draw(t, "strategy")), bundles...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
