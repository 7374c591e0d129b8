package resource

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
)

// A Ledger knows which resources exist and which are granted. Grants on a node never exceed the
// node and return to zero when all placements are released; a violation panics. A Ledger is not
// safe for concurrent use: it belongs to the core's loop.
type Ledger struct {
	names []string // of resources; the number of a resource is its index
	total []Amount
	used  []Amount
	nodes []*node // by id
	holds []hold
	spare []uint32 // free holds
	held  int
	last  uint64 // serial number of the last placement
	plan  plan
}

// A Slot is the place of one bundle: its node and the granted devices.
type Slot struct {
	Node    uint32
	Devices []string // empty when the bundle asks for no GPU
}

// A Placement is a grant: one slot per bundle, in the order of the request. Slots are read only and
// stay valid after the release. A trial with an equal request may take over the placement
// unchanged.
type Placement struct {
	Slots []Slot
	// Beyond: it overlaps resources of others, and nothing was granted (Ledger.Beyond).
	Beyond bool
	hold   uint32
	serial uint64
}

type hold struct {
	serial  uint64 // 0: free
	request Request
	seats   []seat
	devs    []uint16
}

// NewLedger returns a ledger without nodes.
func NewLedger() *Ledger { return &Ledger{} }

// AddNode adds a node. It fails if the id exists, if the devices do not match the capacity, or if a
// total exceeds MaxWhole.
func (l *Ledger) AddNode(spec Node) error {
	spec, err := spec.withDevices()
	if err != nil {
		return err
	}
	at, found := l.find(spec.ID)
	if found {
		return spec.problem("id " + strconv.FormatUint(uint64(spec.ID), 10) + " is there already")
	}
	for _, it := range spec.Capacity.items {
		if i := l.number(it.Name); i >= 0 && Whole(MaxWhole).less(l.total[i].Add(it.Amount)) {
			return spec.problem("the total of " + it.Name + " is " + ErrTooBig.Error())
		}
	}
	l.nodes = slices.Insert(l.nodes, at, l.newNode(spec))
	return nil
}

func (l *Ledger) newNode(spec Node) *node {
	for _, it := range spec.Capacity.items {
		i := l.number(it.Name)
		if i < 0 {
			i = l.newName(it.Name)
		}
		l.total[i] = l.total[i].Add(it.Amount)
	}
	n := &node{spec: spec, idle: len(spec.Devices), cap: make([]Amount, len(l.names))}
	for i, name := range l.names {
		n.cap[i] = spec.Capacity.Get(name)
	}
	n.free = slices.Clone(n.cap)
	n.share = slices.Repeat([]uint32{micro}, len(spec.Devices))
	n.plain[0].Node = spec.ID
	return n
}

func (l *Ledger) newName(name string) int {
	l.names = append(l.names, name)
	l.total = append(l.total, Amount{})
	l.used = append(l.used, Amount{})
	for _, n := range l.nodes {
		n.cap = append(n.cap, Amount{})
		n.free = append(n.free, Amount{})
	}
	return len(l.names) - 1
}

// RemoveNode removes a node and its grants: the totals and the usage shrink. Placements on it stay
// held until they are released; the caller finds them by the node's id in their slots.
func (l *Ledger) RemoveNode(id uint32) error {
	at, found := l.find(id)
	if !found {
		return errors.New("node " + strconv.FormatUint(uint64(id), 10) + " is not there")
	}
	n := l.nodes[at]
	for i, c := range n.cap {
		l.total[i] = l.total[i].Sub(c)
		l.used[i] = l.used[i].Sub(c.Sub(n.free[i]))
	}
	n.gone = true
	l.nodes = slices.Delete(l.nodes, at, at+1)
	return nil
}

func (l *Ledger) find(id uint32) (int, bool) {
	return slices.BinarySearchFunc(l.nodes, id, func(n *node, id uint32) int { return cmp.Compare(n.spec.ID, id) })
}

// NodeName returns the name of an existing node, or its id if it has no name.
func (l *Ledger) NodeName(id uint32) string {
	if at, found := l.find(id); found {
		return l.nodes[at].spec.label()
	}
	return Node{ID: id}.label()
}

// number returns the index of name in names, or -1 if no node ever had it. There are few names; a
// scan is faster than a map.
func (l *Ledger) number(name string) int {
	for i := range l.names {
		if l.names[i] == name {
			return i
		}
	}
	return -1
}

// compile fills the plan with r in the ledger's numbers. It returns false if r requests a resource
// that no node has had.
func (l *Ledger) compile(r Request) bool {
	p := &l.plan
	p.shape, p.needs, p.wants = r.get(), p.needs[:0], p.wants[:0]
	for _, b := range p.bundles {
		n, from := need{}, len(p.wants)
		for _, it := range b.items {
			i := l.number(it.Name)
			if i < 0 {
				return false
			}
			p.wants = append(p.wants, want{i, it.Amount})
			if it.Name == GPU {
				n.ask(it.Amount)
			}
		}
		n.wants = p.wants[from:len(p.wants):len(p.wants)]
		p.needs = append(p.needs, n)
	}
	return true
}

// ask sets the devices of a need; NewBundle has refused fractions above one.
func (n *need) ask(gpus Amount) {
	if gpus.less(Whole(1)) {
		n.share = uint32(gpus.lo)
		return
	}
	n.devs = int(min(gpus.whole(), MaxDevices+1))
}

// Place grants all bundles of r, or none: false means not now. FitsEver reports whether the request
// can ever be granted.
func (l *Ledger) Place(r Request) (Placement, bool) {
	if !l.compile(r) || !l.plan.solve(l.nodes) {
		return Placement{}, false
	}
	return l.commit(r), true
}

func (l *Ledger) commit(r Request) Placement {
	p := &l.plan
	i := l.newHold()
	h := &l.holds[i]
	h.request = r
	h.seats = append(h.seats[:0], p.seats...)
	h.devs = append(h.devs[:0], p.devs...)
	for b, s := range h.seats {
		s.at.group = 0
		l.charge(&p.needs[b], Amount.Add)
	}
	l.held++
	l.last++
	h.serial = l.last
	return Placement{Slots: h.slots(), hold: i, serial: h.serial}
}

func (l *Ledger) charge(b *need, sum func(a, b Amount) Amount) {
	for i := range b.wants {
		w := &b.wants[i]
		l.used[w.resource] = sum(l.used[w.resource], w.amount)
		if l.total[w.resource].less(l.used[w.resource]) {
			panic("resource: more " + l.names[w.resource] + " is granted than there is")
		}
	}
}

func (l *Ledger) newHold() uint32 {
	if n := len(l.spare); n > 0 {
		i := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return i
	}
	l.holds = append(l.holds, hold{})
	return uint32(len(l.holds) - 1)
}

func (h *hold) slots() []Slot {
	if len(h.seats) == 1 && len(h.devs) == 0 {
		return h.seats[0].at.plain[:]
	}
	slots := make([]Slot, len(h.seats))
	ids := make([]string, 0, len(h.devs))
	for i, s := range h.seats {
		first := len(ids)
		for _, d := range h.devs[s.from:s.to] {
			ids = append(ids, s.at.spec.Devices[d])
		}
		slots[i] = Slot{s.at.spec.ID, ids[first:len(ids):len(ids)]}
	}
	return slots
}

// Release releases a placement. It is an error, without effect, to release a placement that is not
// held or was released before.
func (l *Ledger) Release(p Placement) error {
	if int(p.hold) >= len(l.holds) || p.serial == 0 || l.holds[p.hold].serial != p.serial {
		return errors.New("placement " + strconv.FormatUint(p.serial, 10) +
			" is not held: released before, or of another ledger")
	}
	h := &l.holds[p.hold]
	if !l.compile(h.request) {
		panic("resource: a held request names an unknown resource")
	}
	for i := range h.seats {
		s, b := &h.seats[i], &l.plan.needs[i]
		s.at.give(b, h.devs[s.from:s.to])
		if !s.at.gone {
			l.charge(b, Amount.Sub)
		}
		s.at = nil
	}
	h.serial, h.request = 0, Request{}
	l.spare = append(l.spare, p.hold)
	l.held--
	return nil
}

// Holds returns the number of placements that are held.
func (l *Ledger) Holds() int { return l.held }

// Room returns how many requests like r could be placed right now, at most limit. For one bundle it
// counts in O(nodes × resources); for a group it places and releases.
func (l *Ledger) Room(r Request, limit int) int {
	if !l.compile(r) {
		return 0
	}
	if len(r.Bundles()) > 1 {
		return l.roomForGroups(r, limit)
	}
	room := 0
	for _, n := range l.nodes {
		if room >= limit {
			break
		}
		room += n.room(&l.plan.needs[0], limit-room)
	}
	return room
}

func (l *Ledger) roomForGroups(r Request, limit int) int {
	var tried []Placement
	for len(tried) < limit {
		p, ok := l.Place(r)
		if !ok {
			break
		}
		tried = append(tried, p)
	}
	for _, p := range tried {
		if err := l.Release(p); err != nil {
			panic(err)
		}
	}
	return len(tried)
}

// Usage is the total and the granted amount of a resource over all nodes.
type Usage struct {
	Name        string
	Used, Total Amount
}

// String returns a text for the status line: "cpu 3/8", "memory 2GiB/16GiB".
func (u Usage) String() string {
	return Item{u.Name, u.Used}.String() + "/" + Item{u.Name, u.Total}.amountText()
}

// Usage lists every resource that the nodes have, sorted by name.
func (l *Ledger) Usage() []Usage {
	list := make([]Usage, 0, len(l.names))
	for i, name := range l.names {
		if !l.total[i].IsZero() {
			list = append(list, Usage{name, l.used[i], l.total[i]})
		}
	}
	slices.SortFunc(list, func(a, b Usage) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
