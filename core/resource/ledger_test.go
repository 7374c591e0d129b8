package resource

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func ledger(t testing.TB, capacities ...string) *Ledger {
	t.Helper()
	l := NewLedger()
	for i, c := range capacities {
		if err := l.AddNode(Node{ID: uint32(i), Capacity: bundle(t, c)}); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func place(t testing.TB, l *Ledger, text string) Placement {
	t.Helper()
	p, ok := l.Place(request(t, text))
	if !ok {
		t.Fatalf("%s does not fit: %v", text, l.Usage())
	}
	return p
}

func refuse(t testing.TB, l *Ledger, text string) {
	t.Helper()
	if p, ok := l.Place(request(t, text)); ok {
		t.Fatalf("%s was placed: %v", text, p.Slots)
	}
}

func release(t testing.TB, l *Ledger, p Placement) {
	t.Helper()
	if err := l.Release(p); err != nil {
		t.Fatal(err)
	}
}

func nodesOf(p Placement) (ids []uint32) {
	for _, s := range p.Slots {
		ids = append(ids, s.Node)
	}
	return ids
}

// Compares the ledger with the model: it grants exactly when a grant is possible, its grants follow
// the rules, and everything is released.
// B-030, B-031, B-032, B-033, B-035, B-042
func TestLedgerAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, m := NewLedger(), &model{}
		for id := range uint32(rapid.IntRange(0, 3).Draw(t, "nodes")) {
			addNode(t, l, m, id*7)
		}
		next := uint32(100)
		t.Repeat(map[string]func(*rapid.T){
			"place":   func(t *rapid.T) { placeBoth(t, l, m) },
			"release": func(t *rapid.T) { releaseBoth(t, l, m) },
			"room":    func(t *rapid.T) { checkRoom(t, l, m) },
			"ever":    func(t *rapid.T) { checkFitsEver(t, l, m) },
			"add": func(t *rapid.T) {
				if len(m.nodes) < 3 {
					addNode(t, l, m, next)
					next++
				}
			},
			"remove": func(t *rapid.T) { removeBoth(t, l, m) },
			"":       func(t *rapid.T) { checkUsage(t, l, m) },
		})
		for len(m.held) > 0 {
			releaseBoth(t, l, m)
		}
		checkEmpty(t, l)
	})
}

func addNode(t *rapid.T, l *Ledger, m *model, id uint32) {
	n := drawNode(t, id)
	if err := l.AddNode(n); err != nil {
		t.Fatal(err)
	}
	m.nodes = append(m.nodes, n)
}

func placeBoth(t *rapid.T, l *Ledger, m *model) {
	r := drawRequest(t, 4)
	rooms, err := m.free()
	if err != nil {
		t.Fatal(err)
	}
	p, ok := l.Place(r)
	if want := feasible(rooms, r); ok != want {
		t.Fatalf("%v: placed %v, possible %v", r, ok, want)
	}
	if ok {
		m.held = append(m.held, grant{r, p})
	}
}

func releaseBoth(t *rapid.T, l *Ledger, m *model) {
	if len(m.held) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.held)-1).Draw(t, "which")
	p := m.held[i].placement
	m.held = slices.Delete(m.held, i, i+1)
	if err := l.Release(p); err != nil {
		t.Fatal(err)
	}
	if l.Release(p) == nil {
		t.Fatal("released twice")
	}
}

func removeBoth(t *rapid.T, l *Ledger, m *model) {
	if len(m.nodes) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.nodes)-1).Draw(t, "which")
	if err := l.RemoveNode(m.nodes[i].ID); err != nil {
		t.Fatal(err)
	}
	m.nodes = slices.Delete(m.nodes, i, i+1)
}

func checkRoom(t *rapid.T, l *Ledger, m *model) {
	r, limit := drawRequest(t, 2), rapid.IntRange(0, 6).Draw(t, "limit")
	room, before := l.Room(r, limit), l.Holds()
	var placed []Placement
	for len(placed) < limit {
		p, ok := l.Place(r)
		if !ok {
			break
		}
		placed = append(placed, p)
	}
	if room != len(placed) {
		t.Fatalf("room for %d of %v, placed %d", room, r, len(placed))
	}
	for _, p := range placed {
		if err := l.Release(p); err != nil {
			t.Fatal(err)
		}
	}
	if l.Holds() != before {
		t.Fatal("holds")
	}
}

func checkFitsEver(t *rapid.T, l *Ledger, m *model) {
	r := drawRequest(t, 4)
	rooms, err := (&model{nodes: m.nodes}).free()
	if err != nil {
		t.Fatal(err)
	}
	ok, short := l.FitsEver(r)
	if want := feasible(rooms, r); ok != want {
		t.Fatalf("%v: fits ever %v, possible %v", r, ok, want)
	}
	if !ok && (!strings.Contains(short.Error(), r.String()) || strings.Contains(short.Error(), "\n")) {
		t.Fatal(short)
	}
}

func checkUsage(t *rapid.T, l *Ledger, m *model) {
	rooms, err := m.free()
	if err != nil {
		t.Fatal(err)
	}
	if l.Holds() != len(m.held) {
		t.Fatalf("%d holds, want %d", l.Holds(), len(m.held))
	}
	free, total := map[string]int64{}, map[string]int64{}
	for i, n := range m.nodes {
		for _, it := range n.Capacity.Items() {
			free[it.Name] += rooms[i].amounts[it.Name]
			total[it.Name] += millionths(it.Amount)
		}
	}
	usage := l.Usage()
	if len(usage) != len(total) {
		t.Fatalf("%v, want %v", usage, total)
	}
	for _, u := range usage {
		if millionths(u.Total) != total[u.Name] || millionths(u.Used) != total[u.Name]-free[u.Name] {
			t.Fatalf("%v, want free %v of %v", u, free, total)
		}
	}
}

func checkEmpty(t *rapid.T, l *Ledger) {
	for _, u := range l.Usage() {
		if !u.Used.IsZero() {
			t.Fatalf("left over: %v", u)
		}
	}
	for _, n := range l.nodes {
		if n.group != 0 || n.load != 0 || n.idle != len(n.share) {
			t.Fatalf("left over on node %d", n.spec.ID)
		}
	}
}

// B-031
func TestTwoHalvesShareTheOneGPU(t *testing.T) {
	l := NewLedger()
	if err := l.AddNode(Node{Capacity: bundle(t, "cpu=8,gpu=1"), Devices: []string{"GPU-5f"}}); err != nil {
		t.Fatal(err)
	}
	if n := l.Room(request(t, "gpu=0.5"), 100); n != 2 {
		t.Fatalf("room for %d", n)
	}
	first, second := place(t, l, "gpu=0.5"), place(t, l, "gpu=0.5")
	for _, p := range []Placement{first, second} {
		if !slices.Equal(p.Slots[0].Devices, []string{"GPU-5f"}) {
			t.Fatalf("devices %v", p.Slots)
		}
	}
	refuse(t, l, "gpu=0.5")
	refuse(t, l, "gpu=0.000001")
	release(t, l, first)
	refuse(t, l, "gpu=1")
	place(t, l, "gpu=0.5")
}

// B-031
func TestSharesGatherOnTheFullestGPU(t *testing.T) {
	l := ledger(t, "gpu=3")
	for _, c := range []struct{ gpu, device string }{
		{"0.6", "0"}, {"0.5", "1"}, {"0.4", "0"}, {"0.3", "1"}, {"0.3", "2"}, {"0.2", "1"},
	} {
		if p := place(t, l, "gpu="+c.gpu); p.Slots[0].Devices[0] != c.device {
			t.Fatalf("%v went to %v, want %s", c.gpu, p.Slots, c.device)
		}
	}
	refuse(t, l, "gpu=1")
}

// B-030
func TestThreeThirdsAndNoMore(t *testing.T) {
	l := ledger(t, "cpu=0.99")
	if n := l.Room(request(t, "cpu=0.33"), 9); n != 3 {
		t.Fatalf("room for %d", n)
	}
	for range 3 {
		place(t, l, "cpu=0.33")
	}
	if got := l.Usage()[0].String(); got != "cpu 0.99/0.99" {
		t.Fatal(got)
	}
	refuse(t, l, "cpu=0.000001")
}

// B-032
func TestCustomResourcesLimit(t *testing.T) {
	l := ledger(t, "cpu=8,a=2")
	p := place(t, l, "a=2,cpu=1")
	refuse(t, l, "a=2,cpu=1")
	release(t, l, p)
	place(t, l, "a=2,cpu=1")
}

// B-033
func TestHalfAGroupIsNotGranted(t *testing.T) {
	l := ledger(t, "cpu=4", "cpu=4")
	place(t, l, "cpu=3")
	refuse(t, l, "pack(cpu=4;cpu=2)")
	if got := l.Usage()[0].String(); got != "cpu 3/8" {
		t.Fatal(got)
	}
	place(t, l, "pack(cpu=4;cpu=1)")
}

// B-034: ten trials, room for two groups; when a group ends, the next in line starts.
func TestTenTrialsRunTwoGroupsAtATime(t *testing.T) {
	l := ledger(t, "cpu=3,gpu=2", "cpu=3,gpu=2")
	group := request(t, "strict_pack(cpu=1;cpu=1,gpu=1;cpu=1,gpu=1)")
	var running []Placement
	for started, ended := 0, 0; ended < 10; ended++ {
		for started < 10 {
			p, ok := l.Place(group)
			if !ok {
				break
			}
			running = append(running, p)
			started++
		}
		if want := min(2, 10-ended); len(running) != want || l.Holds() != want {
			t.Fatalf("after %d: %d run, %d held, want %d", ended, len(running), l.Holds(), want)
		}
		release(t, l, running[0])
		running = running[1:]
	}
	if l.Holds() != 0 {
		t.Fatal("groups are still held")
	}
}

// B-033
func TestStrategies(t *testing.T) {
	for _, c := range []struct {
		nodes, request string
		want           []uint32
	}{
		{"cpu=4 cpu=4 cpu=4", "pack(cpu=2;cpu=2;cpu=2)", []uint32{0, 0, 1}},
		{"cpu=1 cpu=2 cpu=4", "pack(cpu=2;cpu=2)", []uint32{2, 2}},
		{"cpu=4 cpu=4 cpu=4", "spread(cpu=1;cpu=1;cpu=1;cpu=1)", []uint32{0, 1, 2, 0}},
		{"cpu=1 cpu=8", "spread(cpu=1;cpu=1;cpu=1)", []uint32{0, 1, 1}},
		{"cpu=1 cpu=2 cpu=4", "strict_pack(cpu=1;cpu=2)", []uint32{2, 2}},
		{"cpu=2 cpu=4 cpu=2", "strict_spread(cpu=2;cpu=4;cpu=2)", []uint32{0, 1, 2}},
		{"cpu=8,gpu=1 cpu=8", "cpu=1", []uint32{1}}, // GPUs are left to requests that need them
		{"cpu=8,gpu=1 cpu=8", "gpu=1", []uint32{0}},
	} {
		l := ledger(t, strings.Fields(c.nodes)...)
		if p := place(t, l, c.request); !slices.Equal(nodesOf(p), c.want) {
			t.Errorf("%s on %s: nodes %v, want %v", c.request, c.nodes, nodesOf(p), c.want)
		}
	}
}

func TestPlainRequestsPackOrSpread(t *testing.T) {
	packed, spread := ledger(t, "cpu=2", "cpu=2"), ledger(t, "cpu=2", "cpu=2")
	for i, want := range []struct{ pack, spread uint32 }{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
		p, s := place(t, packed, "cpu=1"), place(t, spread, "spread(cpu=1)")
		if p.Slots[0].Node != want.pack || s.Slots[0].Node != want.spread {
			t.Fatalf("%d: packed on %d, spread on %d", i, p.Slots[0].Node, s.Slots[0].Node)
		}
	}
}

// The preferred device for each share leads nowhere; the search finds another way.
func TestSearchBehindTheGreedyChoice(t *testing.T) {
	l := ledger(t, "gpu=2")
	place(t, l, "gpu=0.6") // device 0 has 0.4
	place(t, l, "gpu=0.5") // device 1 has 0.5
	place(t, l, "strict_pack(gpu=0.2;gpu=0.2;gpu=0.25;gpu=0.25)")
	place(t, ledger(t, "gpu=2"), "pack(gpu=0.3;gpu=0.5;gpu=0.3;gpu=0.5;gpu=0.4)")
}

// B-035
func TestShortfall(t *testing.T) {
	for _, c := range []struct{ nodes, request, want string }{
		{"", "cpu=1", "asked for cpu 1; no node has that much; there is no node; nothing of it fits"},
		{"cpu=8,gpu=2", "cpu=16,gpu=1", "resources: asked for cpu 16, gpu 1; no node has that much; there is cpu 8, " +
			"gpu 2 on node 0; " +
			"the nearest that fits is cpu 8, gpu 1 on node 0"},
		{"cpu=8", "cpu=1,licence=2", "no node has that much, and none has any licence; there is cpu 8 on node 0; the " +
			"nearest that fits is cpu 1 on node 0"},
		{"cpu=2 cpu=4,gpu=1 cpu=8", "cpu=6,gpu=1", "there is cpu 14, gpu 1 on 3 nodes; the nearest that fits is cpu " +
			"4, gpu 1 on node 1"},
		{"cpu=4 cpu=4", "pack(cpu=1;cpu=5)", "no node has cpu 5 (bundle 2); there is cpu 8 on 2 nodes; the nearest " +
			"that fits is cpu 4 on node 0"},
		{"cpu=4 cpu=4", "strict_spread(cpu=1;cpu=1;cpu=1)", "each bundle fits alone, but not all together with " +
			"strict_spread; " +
			"there is cpu 8 on 2 nodes; the first 2 of its 3 bundles fit"},
		{"cpu=4 cpu=4,a=1", "a=2", "the nearest that fits is a 1 on node 1"},
		{"memory=1GiB", "memory=2GiB", "asked for memory 2GiB; no node has that much; " +
			"there is memory 1GiB on node 0; the nearest that fits is memory 1GiB"},
	} {
		l := ledger(t, strings.Fields(c.nodes)...)
		ok, s := l.FitsEver(request(t, c.request))
		if ok || !strings.Contains(s.Error(), c.want) {
			t.Errorf("%s on %s: %v %s\nwant %s", c.request, c.nodes, ok, s.Error(), c.want)
		}
	}
}

// B-035: resources in use now may be free later.
func TestFitsEverLooksPastWhatIsHeld(t *testing.T) {
	l := ledger(t, "cpu=2")
	place(t, l, "cpu=2")
	if ok, s := l.FitsEver(request(t, "cpu=2")); !ok {
		t.Fatal(s)
	}
	if got := l.Usage()[0].String(); got != "cpu 2/2" {
		t.Fatal(got)
	}
}

func TestRemovedNodeTakesItsGrantsAlong(t *testing.T) {
	l := ledger(t, "cpu=2", "cpu=2")
	p := place(t, l, "strict_spread(cpu=2;cpu=1)")
	if err := l.RemoveNode(0); err != nil {
		t.Fatal(err)
	}
	if err := l.AddNode(Node{ID: 0, Capacity: bundle(t, "cpu=3")}); err != nil {
		t.Fatal(err)
	}
	if got := l.Usage()[0].String(); got != "cpu 1/5" || l.Holds() != 1 {
		t.Fatal(got, l.Holds())
	}
	release(t, l, p) // releases nothing of the new node 0
	if got := l.Usage()[0].String(); got != "cpu 0/5" || l.Holds() != 0 {
		t.Fatal(got, l.Holds())
	}
	if l.RemoveNode(9) == nil {
		t.Fatal("removed a node that is not there")
	}
}

func TestReleaseOfWhatIsNotHeld(t *testing.T) {
	l, other := ledger(t, "cpu=2"), ledger(t, "cpu=2")
	p := place(t, l, "cpu=1")
	release(t, l, p)
	q := place(t, l, "cpu=1") // reuses the hold
	if l.Release(p) == nil || l.Release(Placement{}) == nil || other.Release(q) == nil {
		t.Fatal("released")
	}
	if got := l.Usage()[0].String(); got != "cpu 1/2" {
		t.Fatal(got)
	}
}

func TestBadNodes(t *testing.T) {
	for want, n := range map[string]Node{
		"whole GPUs":    {Capacity: bundle(t, "gpu=0.5")},
		"2 device ids":  {Capacity: bundle(t, "gpu=1"), Devices: []string{"0", "1"}},
		"given twice":   {Capacity: bundle(t, "gpu=2"), Devices: []string{"0", "0"}},
		"is empty":      {Capacity: bundle(t, "gpu=1"), Devices: []string{""}},
		"at most 1024":  {Capacity: bundle(t, "gpu=1025")},
		"1 device ids":  {Devices: []string{"0"}},
		"there already": {ID: 7},
		"too big":       {Capacity: bundle(t, "disk=1")},
	} {
		l := NewLedger()
		if err := l.AddNode(Node{ID: 7, Capacity: bundle(t, "disk=1024PiB")}); err != nil {
			t.Fatal(err)
		}
		if n.ID == 0 {
			n.ID = 8
		}
		err := l.AddNode(n)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
		if len(l.Usage()) != 1 {
			t.Errorf("%s: the refused node left %v", want, l.Usage())
		}
	}
}
