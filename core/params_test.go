package core

import (
	"bytes"
	"testing"
)

// Parameters of any length keep their values while others are added.
func TestParams(t *testing.T) {
	var x params
	var spans []span
	lengths := []int{0, 1, 60, firstParamsBytes, 61, pageParamsBytes - 1, 2, 3 * pageParamsBytes, 7}
	for i := range 2000 {
		spans = append(spans, x.add(bytes.Repeat([]byte{byte(i)}, lengths[i%len(lengths)])))
	}
	for i, s := range spans {
		if got := x.at(s); !bytes.Equal(got, bytes.Repeat([]byte{byte(i)}, lengths[i%len(lengths)])) {
			t.Fatalf("the parameters number %d have %d bytes, or other ones", i, len(got))
		}
	}
}
