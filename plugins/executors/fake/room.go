package fake

import (
	"maps"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
)

const gib = 1 << 30

// node is what each node has.
func (o *options) node() []sdk.Amount {
	all := map[string]float64{"cpu": o.CPU, "gpu": float64(o.GPU), "memory": o.MemoryGiB * gib}
	for name, value := range o.Resources {
		if _, own := all[name]; !own {
			all[name] = value
		}
	}
	var list []sdk.Amount
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] > 0 {
			list = append(list, sdk.Amount{Name: name, Value: all[name]})
		}
	}
	return list
}

// free is what a node has left: amounts, and of each GPU a share from 0 to 1.
type free struct {
	amounts map[string]float64
	gpus    []float64
	down    bool
}

// room is what each node has left.
type room []*free

// room is what the leases leave.
func (c *cluster) room(o *options) room {
	all, node := make(room, o.Nodes), o.node()
	for i := range all {
		all[i] = &free{amounts: map[string]float64{}, gpus: slices.Repeat([]float64{1}, o.GPU)}
		for _, a := range node {
			all[i].amounts[a.Name] = a.Value
		}
		_, all[i].down = c.Down[i]
	}
	for _, l := range c.Leases {
		if !l.holds() {
			continue
		}
		for i, p := range l.Places {
			if p.Node < len(all) {
				all[p.Node].take(l.Request.Bundles[i], p.GPUs, -1)
			}
		}
	}
	return all
}

// tolerance is for sums of fractions.
const tolerance = 1e-9

// fits says whether a node has room for a bundle, and on which GPUs.
func (f *free) fits(b sdk.LeaseBundle) (gpus []int, ok bool) {
	if f.down {
		return nil, false
	}
	for _, a := range b {
		if a.Value > f.amounts[a.Name]+tolerance {
			return nil, false
		}
	}
	return f.pick(b.Get("gpu"))
}

// pick picks GPUs: whole ones, or one that has the share left.
func (f *free) pick(amount float64) (gpus []int, ok bool) {
	share := min(amount, 1)
	for i, left := range f.gpus {
		if float64(len(gpus)) >= amount-tolerance {
			break
		}
		if left >= share-tolerance {
			gpus = append(gpus, i)
		}
	}
	return gpus, float64(len(gpus)) >= amount-tolerance
}

// take takes a bundle from a node (sign -1), or gives it back (1).
func (f *free) take(b sdk.LeaseBundle, gpus []int, sign float64) {
	for _, a := range b {
		f.amounts[a.Name] += sign * a.Value
	}
	for _, g := range gpus {
		if g < len(f.gpus) {
			f.gpus[g] += sign * min(b.Get("gpu"), 1)
		}
	}
}

// place finds a place for each bundle, or for none, and takes it. places, if not nil,
// is set to them.
func (r room) place(q sdk.LeaseRequest, places *[]place) bool {
	if q.Strategy == "strict_pack" {
		for node := range r {
			if r.placeOn(q, places, func(int) []int { return []int{node} }) {
				return true
			}
		}
		return false
	}
	return r.placeOn(q, places, func(done int) []int { return r.order(q.Strategy, done) })
}

// order is the nodes in the order in which the next bundle tries them.
func (r room) order(strategy string, done int) []int {
	nodes := make([]int, len(r))
	for i := range nodes {
		nodes[i] = i
		if strategy == "spread" || strategy == "strict_spread" {
			nodes[i] = (i + done) % len(r)
		}
	}
	return nodes
}

// placeOn places bundles on the nodes that try names, in its order.
func (r room) placeOn(q sdk.LeaseRequest, places *[]place, try func(done int) []int) bool {
	var taken []place
	for i, b := range q.Bundles {
		for _, node := range try(i) {
			gpus, ok := r[node].fits(b)
			if ok && (q.Strategy != "strict_spread" || !has(taken, node)) {
				r[node].take(b, gpus, -1)
				taken = append(taken, place{node, gpus})
				break
			}
		}
		if len(taken) <= i {
			r.undo(q, taken)
			return false
		}
	}
	if places != nil {
		*places = taken
	}
	return true
}

func has(taken []place, node int) bool {
	return slices.ContainsFunc(taken, func(p place) bool { return p.Node == node })
}

func (r room) undo(q sdk.LeaseRequest, taken []place) {
	for i, p := range taken {
		r[p.Node].take(q.Bundles[i], p.GPUs, 1)
	}
}

// capacity is the nodes.
func (c *cluster) capacity(o *options) (nodes []sdk.ClusterNode) {
	for i, f := range c.room(o) {
		n := sdk.ClusterNode{Name: nodeName(i), Total: o.node(), Down: f.down}
		for _, a := range n.Total {
			n.Free = append(n.Free, sdk.Amount{Name: a.Name, Value: max(f.amounts[a.Name], 0)})
		}
		nodes = append(nodes, n)
	}
	return nodes
}
