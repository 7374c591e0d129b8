package config

import "strings"

// otherWords maps what to write to the keys of other tuners and other likely words for it.
var otherWords = map[string]string{
	"trials: N": "num_samples n_samples samples max_trials num_trials max_evals runs",
	"concurrency: N": "max_concurrent max_concurrent_trials parallel parallelism n_jobs jobs " +
		"max_parallel_trials",
	"resources: {cpu: N, gpu: N}":                 "cpus gpus cores resources_per_trial mem ram",
	"objective: {metric: NAME, mode: min or max}": "metric mode direction goal optimize",
	"space: {NAME: {uniform: [a, b]}}": "params param parameters param_space search_space config " +
		"hyperparameters",
	"searcher: NAME":             "algorithm algo search_alg search sampler optimizer method suggest",
	"scheduler: NAME":            "pruner early_stopping early_terminate",
	"failures: {retries: N}":     "max_failures max_retries",
	"budget: {time: 2h}":         "time_budget time_budget_s timeout max_time time_limit",
	"budget: {trials_failed: N}": "max_failed_trials",
	"stop: {iteration: N}": "epochs max_epochs iterations max_iterations max_t " +
		"training_iteration",
	"storage: DIR": "local_dir storage_path output output_dir results results_dir dir",
	"trainable: {command: [PROGRAM, ARGUMENT]}": "program script cmd run train",
	"points: [{NAME: VALUE}]":                   "points_to_evaluate initial_points",
	"checkpoint: {every: N}":                    "checkpoint_freq checkpoint_every checkpoint_frequency",
	"repeat: N":                                 "repetitions repeats",
}

// elsewhere says where a misplaced key belongs; "" where no place has it.
func (o *object) elsewhere(name string) string {
	if name == "name" {
		return ""
	}
	if !o.whole() {
		if experiment.find(name) != nil {
			return "; it stands at the top level of the file"
		}
		return ""
	}
	for write, names := range otherWords {
		for n := range strings.FieldsSeq(names) {
			if strings.EqualFold(n, name) {
				return "; write " + write
			}
		}
	}
	return within(name)
}

// whole reports whether o is the file itself.
func (o *object) whole() bool { return len(o.keys) > 0 && o.keys[0].name == "version" }

// toWrite says what to write for a missing key that has only one right value.
func (o *object) toWrite(name string) string {
	if name == "version" && o.whole() {
		return ": write version: 1"
	}
	return ""
}

// within returns the keys of the file that contain a key of this name.
func within(name string) string {
	var homes []string
	for _, k := range experiment.keys {
		if inner, ok := k.shape.(*object); ok && hasKey(inner, name) {
			homes = append(homes, k.name+": {"+name+": …}")
		}
	}
	if homes == nil {
		return ""
	}
	return "; write " + list(homes, 9)
}

func hasKey(o *object, name string) bool {
	for _, k := range o.keys {
		if k.name == name {
			return true
		}
	}
	return false
}
