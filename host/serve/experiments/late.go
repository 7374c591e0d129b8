package experiments

// atOnce is the size of the largest record, in bytes, that a list reads before it is answered: that takes about a tenth
// of a second.
const atOnce = 2 << 20

// late are the experiments with large records that lists are without. One after the other is read, the smallest first.
// The catalog's lock guards it.
type late struct {
	wanted map[string]wanted // by place
	// busy: somebody reads them; over: nobody does any more.
	busy, over bool
}

// wanted is an experiment whose record has so many bytes.
type wanted struct {
	place
	bytes int64
}

// later notes an experiment that hurry has read.
func (c *Catalog) later(p place, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late.wanted[p.name()] = wanted{p, bytes}
}

// hurry has the experiments read that are late, unless that is under way.
func (c *Catalog) hurry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.late.busy && !c.late.over && len(c.late.wanted) > 0 {
		c.late.busy = true
		go c.catchUp()
	}
}

// noLater ends that after the experiment which is being read.
func (c *Catalog) noLater() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late.over = true
}

func (c *Catalog) catchUp() {
	for p := c.smallest(); p != nil; p = c.smallest() {
		_ = p.brought(func(p place) error { // the next list has its error
			c.fresh(p, filesOf(p.dir))
			return nil
		})
		c.mu.Lock()
		delete(c.late.wanted, p.name())
		c.mu.Unlock()
	}
}

// smallest returns what to read next; nil: there is nothing.
func (c *Catalog) smallest() (next *wanted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.late.wanted {
		if next == nil || p.bytes < next.bytes {
			next = &p
		}
	}
	if c.late.over {
		next = nil
	}
	c.late.busy = next != nil
	return next
}
