package view

import (
	"fmt"
	"testing"

	"github.com/tunehost/tunehost/core"
)

// The metrics of a trial are those of its last result only, although a machine keeps the last value of
// each metric.
func TestMetricsOfTheLastResult(t *testing.T) {
	s := begun(t)
	apply := func(e core.Event) { s.Noted(s.Machine.Apply(0, e)) }
	for id, name := range []string{"a", "acc", "b"} {
		apply(&core.MetricNamed{ID: core.MetricID(id + 1), Name: name})
	}
	apply(&core.AttemptStarted{Attempt: 1})
	for i, c := range []struct {
		reported []core.Metric
		want     string
	}{
		{[]core.Metric{{ID: 2, Value: 1}, {ID: 1, Value: 2}}, "[{a 2} {acc 1}]"},
		{[]core.Metric{{ID: 2, Value: 3}}, "[{acc 3}]"},
		{[]core.Metric{{ID: 1, Value: 5}, {ID: 2, Value: 4}}, "[{a 5} {acc 4}]"},
		{[]core.Metric{{ID: 2, Value: 6}, {ID: 3, Value: 7}}, "[{acc 6} {b 7}]"},
		{[]core.Metric{{ID: 2, Value: 8}, {ID: 1, Value: 9}, {ID: 3, Value: 10}}, "[{a 9} {acc 8} {b 10}]"},
		{[]core.Metric{{ID: 2, Value: 8}, {ID: 2, Value: 9}, {ID: 3, Value: 10}}, "[{acc 8} {acc 9} {b 10}]"},
	} {
		apply(&core.ResultReported{Attempt: 1, Iteration: uint64(i + 1), Metrics: c.reported})
		if got := fmt.Sprint(s.Brief(0).Metrics); got != c.want {
			t.Errorf("after result %d: %s, want %s", i+1, got, c.want)
		}
		if got := s.Brief(0).Iteration; got != uint64(i+1) {
			t.Errorf("iteration %d after result %d", got, i+1)
		}
	}
}
