package sim

import (
	"flag"
	"testing"
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
	for s := *from; s < *from+*seeds; s++ {
		live(t, s, Options{})
	}
}

func live(t *testing.T, seed uint64, o Options) Lived {
	t.Helper()
	l, err := Live(seed, o)
	if err != nil {
		t.Fatalf("%v\nrepeat it: go test ./host/hosttest/sim -run TestSeeds -seed %d -v", err, seed)
	}
	return l
}
