package course

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/core"
)

// Whatever is decided in whatever order, the open results are those that a map has.
func TestOpen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o Open
		want, last := map[uint64]due{}, uint64(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			switch number := rapid.Uint64Range(0, last+2).Draw(t, "number"); rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				o.Drop(number)
				for n := range want {
					if n <= number {
						delete(want, n)
					}
				}
			case 1, 2, 3, 4:
				last += rapid.Uint64Range(1, 3).Draw(t, "step")
				want[last] = due{core.TrialNo(last % 7), last / 7}
				o.Put(last, core.TrialNo(last%7), last/7)
			default:
				if rapid.Bool().Draw(t, "oldest") {
					for n := range want {
						number = min(number, n)
					}
				}
				trial, iteration, ok := o.Take(number)
				if of, open := want[number]; ok != open || (due{trial, iteration}) != of {
					t.Fatalf("%d: %d %d %v, want %v %v", number, trial, iteration, ok, of, open)
				}
				delete(want, number)
			}
			if o.Len() != len(want) {
				t.Fatalf("%d results are open, want %d", o.Len(), len(want))
			}
		}
	})
}

// Results that are decided one after the other take the memory of a few, also if one before them never is.
func TestOpenStaysSmall(t *testing.T) {
	var o Open
	o.Put(0, 0, 0)
	for n := uint64(1); n < 100_000; n++ {
		if o.Put(n, 0, n); n > 16 {
			o.Take(n - 16)
		}
	}
	if cap(o.list) > 200 {
		t.Errorf("room for %d results, of which 17 are open", cap(o.list))
	}
}
