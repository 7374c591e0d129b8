package journaltest

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
)

const sectorBytes = 512

// Die ends the process between two operations.
func (f *FS) Die(death Death) { f.dead, f.death = true, death }

// Restart returns the directory that the next process finds, without faults. The dead FS does not
// change. The same seed gives the same directory; different seeds give different outcomes of the
// same death.
func (f *FS) Restart(seed uint64) *FS {
	next := f.clone(seed)
	for _, n := range next.nodes() {
		if f.death == Power {
			next.losePower(n)
		} else if n.lost && next.rand.IntN(2) == 0 {
			n.evict()
		}
	}
	if f.death == Power {
		next.losePowerOfDir()
	}
	return next
}

// evict reads clean pages from the disk again; those of a failed sync are marked clean and wrong.
func (n *node) evict() {
	n.cache, n.lost = slices.Clone(n.disk), false
	for _, c := range n.dirty {
		n.cache = c.apply(n.cache)
	}
}

// clone copies everything except faults and counts.
func (f *FS) clone(seed uint64) *FS {
	copies := map[*node]*node{}
	copied := func(n *node) *node {
		if copies[n] == nil {
			copies[n] = &node{id: n.id, cache: slices.Clone(n.cache), disk: slices.Clone(n.disk),
				dirty: slices.Clone(n.dirty), lost: n.lost}
		}
		return copies[n]
	}
	next := New(seed)
	next.rand = rand.New(rand.NewPCG(seed, uint64(f.ops)))
	next.room, next.nodeID = f.room, f.nodeID
	for name, n := range f.names {
		next.names[name] = copied(n)
	}
	for name, n := range f.disk {
		next.disk[name] = copied(n)
	}
	for _, c := range f.dirty {
		next.dirty = append(next.dirty, dirChange{c.from, c.to, copied(c.node)})
	}
	return next
}

// nodes returns all files that have or may get a name, in order of creation.
func (f *FS) nodes() []*node {
	all := slices.AppendSeq(slices.Collect(maps.Values(f.names)), maps.Values(f.disk))
	for _, c := range f.dirty {
		all = append(all, c.node)
	}
	slices.SortFunc(all, func(a, b *node) int { return cmp.Compare(a.id, b.id) })
	return slices.Compact(all)
}

// losePowerOfDir keeps an arbitrary subset of the unsynced changes.
func (f *FS) losePowerOfDir() {
	for _, c := range f.dirty {
		if f.rand.IntN(2) == 0 {
			c.apply(f.disk)
		}
	}
	f.dirty = nil
	f.names = maps.Clone(f.disk)
}

// losePower keeps the synced contents of a file and an arbitrary part of each later change.
func (f *FS) losePower(n *node) {
	f.someOf(n)
	n.cache, n.lost = slices.Clone(n.disk), false
}

// drop simulates a failed sync: some of the data reaches the disk, the rest is lost.
func (f *FS) drop(n *node) {
	f.someOf(n)
	n.lost = true
}

func (f *FS) someOf(n *node) {
	for _, c := range n.dirty {
		n.disk = f.tear(c, n.disk)
	}
	n.dirty = nil
}

// tear applies c to contents in one of the ways of real disks.
func (f *FS) tear(c change, contents []byte) []byte {
	if c.data == nil {
		if f.rand.IntN(2) == 0 {
			contents = c.apply(contents)
		}
		return contents
	}
	switch f.rand.IntN(6) {
	case 0: // lost
		return contents
	case 1:
		return change{c.offset, c.data[:f.rand.IntN(len(c.data)+1)]}.apply(contents)
	case 2:
		return f.sectors(c, contents)
	case 3: // the size was written, the data was not
		return change{c.offset, make([]byte, len(c.data))}.apply(contents)
	case 4:
		return change{c.offset, f.garbage(len(c.data))}.apply(contents)
	}
	return c.apply(contents)
}

// sectors writes some of the sectors that c touches.
func (f *FS) sectors(c change, contents []byte) []byte {
	end := c.offset + int64(len(c.data))
	if int64(len(contents)) < end {
		contents = resize(contents, int(end))
	}
	for at := c.offset; at < end; {
		next := min(end, (at/sectorBytes+1)*sectorBytes)
		if f.rand.IntN(2) == 0 {
			copy(contents[at:next], c.data[at-c.offset:next-c.offset])
		}
		at = next
	}
	return contents
}

// garbage returns what unwritten blocks hold: old data of this directory or random bytes.
func (f *FS) garbage(n int) []byte {
	b := make([]byte, n)
	if nodes := f.nodes(); f.rand.IntN(2) == 0 && len(nodes) > 0 {
		if old := nodes[f.rand.IntN(len(nodes))].cache; len(old) > 0 {
			copy(b, old[f.rand.IntN(len(old)):])
			return b
		}
	}
	for i := range b {
		b[i] = byte(f.rand.Uint32())
	}
	return b
}
