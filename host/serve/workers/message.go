package workers

import (
	"maps"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Message is what a worker says about its trial.
type Message struct {
	Trial     string
	Attempt   uint32
	Metrics   []sdk.Metric
	Iteration uint64 // 0: the next one
	Failed    string
}

// Result is what a worker says about its trial, with metrics. It is an error if no trial can have such a result.
func Result[N ~float64](trial string, attempt uint32, iteration uint64, metrics map[string]N) (Message, error) {
	said := Message{Trial: trial, Attempt: attempt, Iteration: iteration}
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		said.Metrics = append(said.Metrics, sdk.Metric{Name: name, Value: float64(metrics[name])})
	}
	return said, sdk.CheckResult(&sdk.Result{Metrics: said.Metrics, Iteration: max(iteration, 1)})
}
