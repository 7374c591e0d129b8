package sim

import (
	"fmt"
	"math"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
)

// plateau is the rule that ends a trial whose values no longer change.
type plateau struct {
	last, grace, patience int
	std                   float64
}

// rulebook is a second implementation of the rules with state: it follows the record, and
// says which results must end their trial, or the experiment.
type rulebook struct {
	plateau *plateau
	results int // that end the experiment; 0: none
	seen    int
	values  map[core.TrialNo][]float64
	level   map[core.TrialNo]int // times in a row
	score   core.MetricID
}

func newRulebook(p *plan) *rulebook {
	return &rulebook{plateau: p.plateau, results: p.results, values: map[core.TrialNo][]float64{},
		level: map[core.TrialNo]int{}}
}

// read follows a record from its beginning.
func (r *rulebook) read(records [][]byte) error {
	if r.plateau == nil && r.results == 0 {
		return nil
	}
	h := history.From(history.Records(1, records))
	return h.Visit(history.Visitor{Before: func(x history.Entry) error {
		result, ok := x.Event.(*core.ResultReported)
		if err := r.check(x.Event, ok && h.Machine().Takes(result.Trial, result.Attempt)); err != nil {
			return fmt.Errorf("event %d: %w", x.Number, err)
		}
		return nil
	}})
}

// check compares a recorded result with the rules; running says whether
// its trial was.
func (r *rulebook) check(e core.Event, running bool) error {
	if n, ok := e.(*core.MetricNamed); ok && n.Name == "score" {
		r.score = n.ID
	}
	x, ok := e.(*core.ResultReported)
	if !ok {
		return nil
	}
	flat := false
	if running {
		r.seen++
		flat = r.plateau != nil && r.flat(x)
	}
	if ends := x.Stop != nil; ends != flat {
		return fmt.Errorf("trial %d is on its plateau: %t, and the record says %v", x.Trial, flat, x.Stop)
	}
	if ends, must := x.StopAll != nil, running && r.results > 0 && r.seen >= r.results; ends != must {
		return fmt.Errorf("result %d ends the experiment: %t, and the record says %v", r.seen, must, x.StopAll)
	}
	return nil
}

// flat reports whether a trial's last values have been equal for long enough.
func (r *rulebook) flat(x *core.ResultReported) bool {
	no, value := x.Trial, math.NaN()
	for _, m := range x.Metrics {
		if m.ID == r.score {
			value = m.Value
		}
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return false
	}
	r.values[no] = append(r.values[no], value)
	all := r.values[no]
	if len(all) < r.plateau.grace || len(all) < r.plateau.last ||
		spread(all[len(all)-r.plateau.last:]) > r.plateau.std {
		r.level[no] = 0
		return false
	}
	if r.level[no]++; r.level[no] <= r.plateau.patience {
		return false
	}
	delete(r.values, no)
	delete(r.level, no)
	return true
}

// spread returns the standard deviation.
func spread(list []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, x := range list {
		sum += x
	}
	mean := sum / float64(len(list))
	for _, x := range list {
		squares += (x - mean) * (x - mean)
	}
	return math.Sqrt(squares / float64(len(list)))
}
