package sim

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// clock is the world's time. Its time of day jumps, its running time does not.
type clock struct {
	now   int64 // nanoseconds since the world began
	zone  *time.Location
	zones map[*time.Location]int64 // time of day when the world began, by the clock at the time
	// wait is how a host waits for room on its disk.
	wait func(time.Duration)
}

// dawn is the time of day at which every world begins.
const dawn = 1_700_000_000_000_000_000

func newClock() *clock {
	c := &clock{zones: map[*time.Location]int64{}}
	c.jump(dawn)
	return c
}

// jump sets the time of day. A time has the zone of its jump, so that Since measures elapsed seconds
// across jumps.
func (c *clock) jump(base int64) {
	c.zone = time.FixedZone("world", 0) // a zone without a name would be shared
	c.zones[c.zone] = base
}

// Now implements the Clock of host/clock.
func (c *clock) Now() time.Time { return time.Unix(0, c.zones[c.zone]+c.now).In(c.zone) }

// Since implements the Clock of host/clock.
func (c *clock) Since(t time.Time) time.Duration {
	return time.Duration(c.now - (t.UnixNano() - c.zones[t.Location()]))
}

// AfterFunc implements the Clock of host/clock for a host that waits for room.
func (c *clock) AfterFunc(d time.Duration, f func()) func() bool {
	c.wait(d)
	f()
	return func() bool { return false }
}

// agenda is what will happen: the earliest first, and in the order of planning at the same instant.
type agenda struct {
	items []item
	order uint64
}

// item happens at a time, unless its host has ended.
type item struct {
	at    int64
	order uint64
	host  int // 0: it belongs to no host
	do    func()
}

func (a *agenda) Len() int { return len(a.items) }
func (a *agenda) Less(i, j int) bool {
	x, y := &a.items[i], &a.items[j]
	return x.at < y.at || x.at == y.at && x.order < y.order
}
func (a *agenda) Swap(i, j int) { a.items[i], a.items[j] = a.items[j], a.items[i] }
func (a *agenda) Push(x any)    { a.items = append(a.items, x.(item)) }
func (a *agenda) Pop() any {
	n := len(a.items) - 1
	last := a.items[n]
	a.items[n] = item{}
	a.items = a.items[:n]
	return last
}

func (a *agenda) plan(at int64, host int, do func()) {
	a.order++
	heap.Push(a, item{at, a.order, host, do})
}

// between draws a time.
func between(r *rand.Rand, from, to time.Duration) int64 {
	return int64(from) + r.Int64N(int64(to-from)+1)
}
