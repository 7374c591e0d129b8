package sim

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal/journaltest"
)

var (
	seed     = flag.Int64("seed", -1, "the one seed that TestSeeds lives; with -v all that happens in it")
	seeds    = flag.Uint64("seeds", 100, "how many seeds TestSeeds lives, from 1 on")
	fresh    = flag.Duration("for", 2*time.Second, "how long TestFreshSeeds lives seeds that are drawn anew")
	deaths   = flag.Int("deaths", 0, "how many deaths TestFreshSeeds waits for, however long it takes")
	onLeases = flag.Bool("leases", false, "all seeds live with an engine that grants leases")
	every    = flag.Bool("every", false, "every byte, bit and operation, not some of them")
)

func TestMain(m *testing.M) {
	flag.Parse()
	debug.SetGCPercent(1000) // runs are short and allocate much
	os.Exit(m.Run())
}

// B-077 B-080 B-084 B-086 B-087: the same seeds each time.
func TestSeeds(t *testing.T) {
	if *seed >= 0 {
		live(t, uint64(*seed), Options{Log: func(s string) { t.Log(s) }})
		return
	}
	var sum tally
	for s := uint64(1); s <= *seeds; s++ {
		sum.add(live(t, s, Options{}))
	}
	t.Log(sum)
}

// B-075 B-130 B-131 B-132 B-133 B-134: trials run on leases of an engine that queues, refuses, preempts, and loses and
// parts nodes.
func TestSeedsOnLeases(t *testing.T) {
	var sum tally
	for s := uint64(1); s <= *seeds; s++ {
		sum.add(live(t, s, Options{Leases: Always}))
	}
	if sum.leases == 0 || sum.lost == 0 {
		t.Error("no lease was lost")
	}
	t.Log(sum)
}

// kept are seeds that failed once, in the simulator of that time. When the drawing of
// runs changes, a seed means another run: each bug found also has a separate test
// elsewhere.
var kept = []uint64{170, 219, 231, 4752, 1795294997473}

// keptWide are seeds that failed in the extended simulator.
var keptWide = []uint64{1795307108921}

func TestKeptSeeds(t *testing.T) {
	for _, s := range kept {
		live(t, s, Options{Narrow: true})
	}
	for _, s := range keptWide {
		live(t, s, Options{Leases: Never})
	}
}

// B-080: other seeds each time.
func TestFreshSeeds(t *testing.T) {
	began, first := time.Now(), uint64(time.Now().UnixNano())/1e6
	sum, s := tally{}, first
	for ; time.Since(began) < *fresh || sum.deaths < *deaths; s++ {
		sum.add(live(t, s, Options{}))
		if sum.seeds%500 == 0 {
			t.Log(sum, time.Since(began))
		}
	}
	t.Logf("seeds from %d: %v, in %v, with %v of processor time", first, sum,
		time.Since(began).Round(time.Millisecond), processorTime())
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Round(time.Millisecond)
}

// tally counts the simulated events.
type tally struct{ seeds, deaths, power, hosts, events, finished, leases, lost, engines, engineDeaths int }

func (x *tally) add(l Lived) {
	x.seeds++
	x.deaths += l.Deaths
	x.power += l.Power
	x.hosts += l.Hosts
	x.events += l.Events
	x.leases += l.Leases
	x.lost += l.Lost
	if l.Leases > 0 {
		x.engines++
		x.engineDeaths += l.Deaths
	}
	if l.Outcome == core.Finished {
		x.finished++
	}
}

func (x tally) String() string {
	return fmt.Sprintf("%d lives, %d of them finished; %d hosts, %d deaths, %d of them losses of power; %d events in "+
		"the records; %d lives and %d deaths with engines, %d leases, %d of them lost", x.seeds, x.finished, x.hosts,
		x.deaths, x.power, x.events, x.engines, x.engineDeaths, x.leases, x.lost)
}

func live(t *testing.T, seed uint64, o Options) Lived {
	t.Helper()
	if *onLeases && o.Leases == Drawn && !o.Narrow {
		o.Leases = Always
	}
	how := ""
	if o.Leases == Always {
		how = " -leases"
	}
	l, err := Live(seed, o)
	if err != nil {
		t.Fatalf("%v\nrepeat it: go test ./host/hosttest/sim -run TestSeeds -seed %d%s -v", err, seed, how)
	}
	return l
}

// The same seed is the same record, byte by byte.
func TestSameSeedTwice(t *testing.T) {
	for s := uint64(1); s <= 20; s++ {
		a, b := live(t, s, Options{}), live(t, s, Options{})
		if !slices.EqualFunc(a.Records, b.Records, bytes.Equal) {
			t.Fatalf("seed %d is another life the second time", s)
		}
	}
}

// The sizes of segments and how often plugins make snapshots change nothing.
func TestOtherSizes(t *testing.T) {
	for s := uint64(1); s <= 30; s++ {
		a := live(t, s, Options{Calm: true, SegmentBytes: 512, SnapshotEvery: 1})
		b := live(t, s, Options{Calm: true, SegmentBytes: 1 << 20, SnapshotEvery: 1 << 20})
		if !slices.EqualFunc(a.Records, b.Records, bytes.Equal) {
			t.Fatalf("seed %d is another life with other sizes", s)
		}
	}
}

// small are seeds of small experiments: of a scheduler that pauses and resumes, of
// one that exploits, of one that stops.
var small = []uint64{2, 3, 5}

// B-080: a small experiment whose host dies at each file operation, and the next one
// at one of its own.
func TestDeathAtEveryOperation(t *testing.T) {
	n := 0
	for _, s := range small {
		for _, leases := range []Leases{Never, Always} {
			ops := live(t, s, Options{Small: true, Calm: true, Leases: leases}).Ops
			for disk := range ops {
				for op := 1; op <= ops[disk]; op++ {
					n += dieTwice(t, s, leases, disk, op)
				}
			}
		}
	}
	t.Logf("%d lives", n)
}

func dieTwice(t *testing.T, seed uint64, leases Leases, disk, op int) (n int) {
	for _, death := range []journaltest.Death{journaltest.Kill, journaltest.Power} {
		for _, phase := range []journaltest.Phase{journaltest.Before, journaltest.Middle, journaltest.After} {
			for second := range 25 { // 0: no second death
				if !*every && (op*31+second*7+int(phase)*3+int(death))%101 != 0 {
					continue
				}
				n++
				o := Options{Small: true, Calm: true, Leases: leases,
					Deaths: []Death{{1, disk, op, death, phase},
						{2, 0, second, journaltest.Death(n % 2), journaltest.Phase(n % 3)}}}
				if _, err := Live(seed, o); err != nil {
					t.Fatalf("deaths %+v: %v", o.Deaths, err)
				}
			}
		}
	}
	return n
}

// B-086: a record that was never synced, cut at each byte: complete records before the
// cut count, and the experiment continues from there to its end.
func TestEveryCut(t *testing.T) {
	tearing(t, 1, 97, func(b []byte, i int) []byte { return b[:i] })
}

// B-086: the same with each bit flipped, and garbage after each byte.
func TestEveryFlip(t *testing.T) {
	tearing(t, 8, 1499, func(b []byte, i int) []byte {
		b[i/8] ^= 1 << (i % 8)
		return b
	})
	tearing(t, 1, 203, func(b []byte, i int) []byte {
		for j := range b[i:] {
			b[i+j] = byte(mix(uint64(i), uint64(j)))
		}
		return b
	})
}

// tearing tears a record in a number of ways for each of its bytes.
func tearing(t *testing.T, ways, stride int, tear func(whole []byte, i int) []byte) {
	n, refused := 0, 0
	for _, s := range small {
		size := 0
		o := Options{Small: true, Calm: true, SegmentBytes: 1 << 20,
			Torn: func(b []byte) []byte { size = len(b); return b }}
		live(t, s, o)
		if *every {
			stride = 1
		}
		for i := 0; i < size*ways; i += stride {
			o.Torn = func(b []byte) []byte { return tear(b, i) }
			l, err := Live(s, o)
			if err != nil {
				t.Fatalf("torn at %d of %d: %v", i, size*ways, err)
			}
			n++
			if l.Refused {
				refused++
			}
		}
	}
	t.Logf("%d lives, %d of them refused", n, refused)
}
