package buffers

import "testing"

func TestSizes(t *testing.T) {
	for n, want := range map[int]int{0: smallest, smallest: smallest, smallest + 1: Largest, Largest: Largest} {
		b := Borrow(n)
		if len(b.Bytes) != want {
			t.Errorf("%d bytes for %d, want %d", len(b.Bytes), n, want)
		}
		b.Return()
	}
}
