package sdk

import (
	"fmt"
	"strings"
	"testing"
)

func TestCheckResult(t *testing.T) {
	many := func(n int) (list []Metric) {
		for i := range n {
			list = append(list, Metric{Name: fmt.Sprint("m", i)})
		}
		return list
	}
	for name, c := range map[string]struct {
		result Result
		says   string
	}{
		"plain":    {Result{Iteration: 3, Metrics: []Metric{{Name: "val/top-5_acc.x:y"}}}, ""},
		"nothing":  {Result{}, ""},
		"most":     {Result{Iteration: MaxIteration, Metrics: many(MaxMetrics)}, ""},
		"longest":  {Result{Metrics: []Metric{{Name: strings.Repeat("n", MaxMetricName)}}}, ""},
		"too many": {Result{Metrics: many(MaxMetrics + 1)}, "a result has 10001 metrics; at most 10000"},
		"far":      {Result{Iteration: MaxIteration + 1}, "beyond"},
		"path": {Result{Checkpoint: strings.Repeat("/x", 3000)},
			"the path of its checkpoint has 6000 bytes"},
		"no name":   {Result{Metrics: []Metric{{}}}, "a metric has no name"},
		"10 kB":     {Result{Metrics: []Metric{{Name: strings.Repeat("n", 10_000)}}}, "longer than 128 bytes"},
		"control":   {Result{Metrics: []Metric{{Name: "a\x1b[31m"}}}, `"a\x1b[31m" has an unprintable character`},
		"not UTF-8": {Result{Metrics: []Metric{{Name: "\xff"}}}, `"\xff" has an unprintable character`},
		"not ASCII": {Result{Metrics: []Metric{{Name: "précision@1 (%)"}}}, ""},
		"twice": {Result{Metrics: []Metric{{Name: "a"}, {Name: "b"}, {Name: "a"}}},
			`metric "a" occurs twice in a result`},
		"twice of many": {Result{Metrics: append(many(100), Metric{Name: "m7"})},
			`metric "m7" occurs twice in a result`},
		"space in a name": {Result{Metrics: []Metric{{Name: "a b"}}}, ""},
		"direction":       {Result{Metrics: []Metric{{Name: "a\u202eb"}}}, "unprintable character"},
	} {
		err := CheckResult(&c.result)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
