package curves

import (
	"bytes"
	"math"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// FuzzRead checks that a table of curves is refused, or that every point has a curve that a trial
// could report.
func FuzzRead(f *testing.F) {
	f.Add([]byte(lines))
	f.Add([]byte(`{"table": 1, "neighbours": 6, "epsilon": 1e-300, "average": "log", "weights": {"x": 1e300}}` + "\n" +
		lines))
	f.Add([]byte(`{"params":{"x":1,"kind":"a"},"metrics":{"loss":[-1,0,"NaN",null]},"seconds":[1,0.5,-1,1e308],` +
		`"iterations":[3,2,1,18446744073709551615]}`))
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x00\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		table, err := Read(bytes.NewReader(text), mixed())
		if err != nil {
			return
		}
		for _, p := range append(table.Points(), space.Point{5, 1, nan}, space.Point{0, 2, 0.5}) {
			c := table.Course(p)
			last := uint64(0)
			for i := range c.Len() {
				if i > 0 && c.Iteration(i) <= last || math.IsNaN(c.Seconds(i)) || c.Seconds(i) < 0 {
					t.Fatalf("report %d of %+v", i, c)
				}
				for k := range c.Metrics() {
					c.Value(i, k)
				}
				last = c.Iteration(i)
			}
		}
	})
}
