// Package smallheap has the garbage collector run as often as it is worth.
//
// The Go runtime collects when the heap has doubled, or has grown by 4 MB. A host or a plugin has a few megabytes in
// use, and under load it would be collected dozens of times a second. With this package a heap grows the more between
// two collections the more is allocated, so that collections take about the same share of the processor whatever the
// process does, and a process that does little has little memory.
package smallheap

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// room is by how many bytes a heap may grow between two collections if that is more than what is in use.
	room = 32 << 20
	// each is the time between two collections for each byte in use. A collection takes about 0.7 ms for a megabyte,
	// which is 3 % of one processor then.
	each = 0.025 / (1 << 20) // seconds
	// usual is the runtime's own setting of GOGC; most is for tiny heaps. For processes that allocate little, least is
	// for heaps of up to 8 MB, whose collections cost more than what they find, and tight for those of 20 MB and more.
	tight, least, usual, most = 10, 25, 100, 800
	// step is by how much such a heap grows between two collections.
	step = 2 << 20

	gogc  = "GOGC"
	first = "800"
)

// Variable is for the environment of a process that calls [Adapt]: it applies from the start of the process.
const Variable = gogc + "=" + first

// Adapt adapts GOGC to the heap and to what is allocated from now on, and removes [Variable] from the environment, so
// that programs which this process starts do not inherit it. It does nothing if the user has set GOGC or GOMEMLIMIT.
func Adapt() { once.Do(adapt) }

var once sync.Once

func adapt() {
	if os.Getenv(gogc) == first {
		_ = os.Unsetenv(gogc)
	}
	if os.Getenv(gogc) != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	a := &adapter{seen: measured(), percent: most}
	debug.SetGCPercent(most)
	a.afterNext()
}

// Roomy lets the heap grow by so many bytes between two collections, however busy the machine is. It is for a command
// that computes as fast as it can and ends soon. It does nothing if the user has set GOGC or GOMEMLIMIT.
func Roomy(bytes uint64) {
	if os.Getenv(gogc) == "" && os.Getenv("GOMEMLIMIT") == "" {
		wanted.Store(bytes)
		debug.SetGCPercent(most) // until the next collection, which finds out what is in use
	}
}

// wanted is what Roomy was called with; 0: it was not.
var wanted atomic.Uint64

// Limit has the garbage collector run more often when the process has about so many bytes in use, and until then not
// before the heap has grown by 32 MB, however little the process does. A process that needs more than that gets a
// quarter more than it has in use: the runtime would give up to half of the processors to a collector that finds
// nothing. It does nothing if the user has set GOGC or GOMEMLIMIT.
func Limit(bytes int64) {
	if os.Getenv(gogc) == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(bytes)
		limit.Store(bytes)
	}
}

// limit is what Limit was called with; 0: it was not.
var limit atomic.Int64

// An adapter sets GOGC after each collection.
type adapter struct {
	mu      sync.Mutex
	seen    measure // at the last collection
	percent int
}

// adapt sets GOGC by what has happened since it was called last.
func (a *adapter) adapt() {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := measured()
	p := percent(now.live, now.rate(a.seen))
	if bytes := wanted.Load(); bytes > 0 {
		p = max(p, roomy(now.live, bytes))
	}
	if bytes := limit.Load(); bytes > 0 {
		p = max(p, roomy(now.live, room))
		debug.SetMemoryLimit(ceiling(bytes, now.live))
	}
	if p != a.percent {
		debug.SetGCPercent(p)
		a.percent = p
	}
	a.seen = now
}

// afterNext calls adapt after each collection: the next one finds that nothing refers to a new object.
func (a *adapter) afterNext() {
	runtime.AddCleanup(&object{}, func(a *adapter) {
		a.adapt()
		a.afterNext()
	}, a)
}

// An object has a pointer, so that it shares its memory with no other object.
type object struct{ _ *object }

// percent returns the setting for what is in use and what is allocated in a second. With it a heap grows, between two
// collections, by what is allocated in the time that each of its bytes gets: what is in use does not matter.
func percent(live, rate uint64) int {
	bound := min(max(room*100/max(live, 1), usual), most)
	low := min(max(step*100/max(live, 1), tight), least)
	return int(min(max(uint64(float64(rate)*each*100), low), bound))
}

// roomy is the setting with which a heap grows by so many bytes between two collections.
func roomy(live, bytes uint64) int { return int(min(bytes*100/max(live, 1), most)) }

// ceiling is the limit of a process that wants to keep to bytes and has live bytes in use.
func ceiling(bytes int64, live uint64) int64 { return max(bytes, int64(live+live/4)) }

// A measure is the state of the heap at a time.
type measure struct {
	at              time.Time
	live, allocated uint64 // what the last collection found in use; all that was ever allocated
}

func measured() measure {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples)
	return measure{time.Now(), samples[0].Value.Uint64(), samples[1].Value.Uint64()}
}

// rate is how much is allocated in a second.
func (m measure) rate(since measure) uint64 {
	took := max(m.at.Sub(since.at), time.Millisecond)
	return uint64(float64(m.allocated-since.allocated) / took.Seconds())
}
