package points

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// B-104: a value that the user gives exists in the trial: what its condition depends on is drawn until it holds. Where
// it cannot hold, the error names the parameter.
func TestGivenValuesExist(t *testing.T) {
	open := math.NaN()
	for _, when := range []string{`u == 'b'`, `u.startsWith('b')`} {
		e := experiment(t, `space: {u: {choice: [a, b, c, d]}, k: {int: [1, 5], when: "`+when+`"}, `+
			`l: {int: [1, 5], when: "u == 'c'"}}`, config.Reading)
		for seed := range uint64(50) {
			g, err := Complete(e, seed, 0, space.Point{open, 3, open})
			if err != nil || string(g.Params) != `{"k":3,"u":"b"}` {
				t.Fatalf("%s: %s, %v", when, g.Params, err)
			}
		}
		_, err := Complete(e, 1, 0, space.Point{open, 3, 2})
		var absent AbsentError
		if !errors.As(err, &absent) || !strings.HasPrefix(err.Error(), "k does not exist") &&
			!strings.HasPrefix(err.Error(), "l does not exist") {
			t.Errorf("%s: %v", when, err)
		}
	}
}
