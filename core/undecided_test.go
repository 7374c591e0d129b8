package core

import (
	"math/rand/v2"
	"testing"
)

// The list has what a map would have, in whatever order results are decided.
func TestUndecided(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var u undecideds
	want := map[uint64]TrialNo{}
	for number := uint64(1); number < 20_000; number++ {
		if number%2000 < 1500 && number%3 == 0 {
			u.add(undecided{number: number, trial: TrialNo(number)})
			want[number] = TrialNo(number)
		}
		for range 2 {
			x := number - min(number, rng.Uint64N(300))
			found := u.find(x)
			if no, ok := want[x]; ok != (found != nil) || ok && found.trial != no {
				t.Fatalf("observation %d is %v, want %v", x, found, no)
			}
			u.remove(x)
			delete(want, x)
		}
		if u.len != len(want) || len(u.list) > 2*u.len+65 {
			t.Fatalf("%d of %d are left, want %d", u.len, len(u.list), len(want))
		}
	}
}
