package sim

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"github.com/tunehost/tunehost/core"
)

var (
	seed  = flag.Int64("seed", -1, "the one seed that TestSeeds lives; with -v all that happens in it")
	from  = flag.Uint64("from", 1, "the first seed of TestSeeds")
	seeds = flag.Uint64("seeds", 300, "how many seeds TestSeeds lives")
)

// B-077 B-080 B-084 B-086 B-087
func TestSeeds(t *testing.T) {
	if *seed >= 0 {
		live(t, uint64(*seed), Options{Log: func(s string) { t.Log(s) }})
		return
	}
	var sum tally
	for s := *from; s < *from+*seeds; s++ {
		sum.add(live(t, s, Options{}))
	}
	t.Log(sum)
}

// tally counts what was lived through.
type tally struct{ seeds, deaths, power, hosts, events, finished int }

func (x *tally) add(l Lived) {
	x.seeds++
	x.deaths += l.Deaths
	x.power += l.Power
	x.hosts += l.Hosts
	x.events += l.Events
	if l.Outcome == core.Finished {
		x.finished++
	}
}

func (x tally) String() string {
	return fmt.Sprintf("%d seeds, %d of them finished; %d hosts, %d deaths, %d of them losses of power; %d events in the records", x.seeds, x.finished, x.hosts, x.deaths, x.power, x.events)
}

func TestMain(m *testing.M) {
	flag.Parse()
	debug.SetGCPercent(1000) // lives are short, and leave much behind
	os.Exit(m.Run())
}

func live(t *testing.T, seed uint64, o Options) Lived {
	t.Helper()
	l, err := Live(seed, o)
	if err != nil {
		t.Fatalf("%v\nrepeat it: go test ./host/hosttest/sim -run TestSeeds -seed %d -v", err, seed)
	}
	return l
}
