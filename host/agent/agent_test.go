package agent

import (
	"testing"
	"time"
)

// An agent that is woken late asks for more time, as the engine beside it needs more.
func TestMore(t *testing.T) {
	const ms = time.Millisecond
	for _, x := range []struct{ late, within, want time.Duration }{
		{0, 8 * ms, 0},
		{ms, 8 * ms, 0},
		{5 * ms, 8 * ms, 50 * ms},
		{100 * ms, 8 * ms, 80 * ms},
		{200 * ms, 200 * ms, time.Second},
		{5 * ms, 0, 0},
	} {
		if got := more(x.late, x.within); got != x.want {
			t.Errorf("%v late after %v: %v more, want %v", x.late, x.within, got, x.want)
		}
	}
}
