package view

import (
	"strings"
	"testing"
)

func TestOfTwoMetricsTheLaterCounts(t *testing.T) {
	for _, n := range []int{few - 2, few + 2} {
		metrics := []Metric{{Name: "a", Value: 1}}
		for i := range n {
			metrics = append(metrics, Metric{Name: strings.Repeat("b", i+1)})
		}
		metrics = append(metrics, Metric{Name: "a", Value: 2})
		o := object{}
		o.metrics("metrics", metrics)
		if text := string(o.b); strings.Count(text, `"a":`) != 1 || !strings.HasSuffix(text, `"a":2}`) {
			t.Errorf("%d metrics: %s", n, text)
		}
	}
}
