package config

import (
	"encoding/json"
	"fmt"
)

// schedulersWithEnd are the bundled schedulers whose option max is the iteration at which trials end, and its default;
// 0: they end by themselves.
var schedulersWithEnd = map[string]uint64{"auto": 0, "asha": 100, "moasha": 100, "pasha": 100, "hyperband": 81,
	"bohb": 81, "pbt": 0, "pb2": 0, "mf-pbt": 0}

// LastIteration returns the last iteration of each trial, and the key that says so; 0 if trials end by themselves or
// by another rule.
func (e *Experiment) LastIteration() (last uint64, key string) {
	if last = uint64(e.Stop.Iteration); last > 0 {
		key = "stop.iteration"
	}
	if end := e.Scheduler.end(); end > 0 && (last == 0 || end < last) {
		return end, "scheduler.max"
	}
	return last, key
}

// end returns the option max of a scheduler that ends trials there.
func (r PluginRef) end() uint64 {
	end, ok := schedulersWithEnd[r.Name]
	if !ok {
		return 0
	}
	o := struct{ Max *uint64 }{&end}
	if json.Unmarshal(r.Options, &o) != nil || o.Max == nil {
		return schedulersWithEnd[r.Name]
	}
	return *o.Max
}

// NothingLeft says why nothing is left to train from a checkpoint of an iteration, and what to do; "" if something is.
func (e *Experiment) NothingLeft(iteration uint64) string {
	last, key := e.LastIteration()
	if last == 0 || iteration < last {
		return ""
	}
	return fmt.Sprintf("is of iteration %d, and %s ends trials at iteration %d: nothing is left to train; set %s to "+
		"more", iteration, key, last, key)
}
