package validate

import (
	"slices"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin/standard"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// unused warns of keys that the file sets and that change nothing beside its other keys. What a plugin says of
// itself is not known here: those are warnings of a host.
func unused(e *config.Experiment, byCaller bool) (list []*config.Error) {
	if byCaller {
		return unusedByCaller(e)
	}
	for _, k := range []struct {
		key  string
		idle bool
		why  string
	}{
		{"reuse", e.Reuse == "true" && isCommand(e), "a command is started once for each trial; trainable.warm " +
			"starts an interpreter of Python once for all"},
		{"wait_for_resources", e.WaitForResources && e.Leased(), "trials wait in the queue of the executor " +
			e.Executor.Name + " in any case"},
		{"placement.strategy", oneBundle(e) && e.Placement.Strategy != "pack", "there is only one bundle"},
		{"checkpoint.score", e.Checkpoint.Score != "" && e.Checkpoint.Keep == 0, "it chooses which checkpoints are " +
			"kept, and without checkpoint.keep all of them are"},
		{"checkpoint.pauses", e.Checkpoint.PausesInMemory && isCommand(e), "a program makes its own " +
			"checkpoints, on disk"},
		{"failures.lost", !e.Leased(), "trials run on this machine, which they cannot lose; failures.retries is for " +
			"trials that fail"},
		{"searcher", searchesNothing(e), "nothing in the space is searched: grids are combined, and constants are as " +
			"they are"},
	} {
		if k.idle && e.Has(k.key) {
			list = append(list, doubt(e.PosOf(k.key), "%s has no effect: %s: leave it out", k.key, k.why))
		}
	}
	return slices.Concat(list, uncalled(e), zeros(e))
}

func isCommand(e *config.Experiment) bool { return e.Trainable != nil && e.Trainable.Plugin == nil }

func oneBundle(e *config.Experiment) bool { return e.Placement != nil && len(e.Placement.Bundles) == 1 }

// searchesNothing reports whether a bundled searcher has nothing to choose; another one may still end the search.
// Those that are right for any space are not meant to search in this one.
func searchesNothing(e *config.Experiment) bool {
	searched := func(p space.Param) bool { return !p.Grid }
	return e.Space != nil && !slices.ContainsFunc(e.Space.Params, searched) && standard.Draws(e.Searcher.Name) &&
		!slices.Contains([]string{"auto", "random"}, e.Searcher.Name)
}

// unusedByCaller warns of keys about the training of trials where the caller trains them.
func unusedByCaller(e *config.Experiment) (list []*config.Error) {
	for _, key := range []string{"resources", "placement", "reuse", "overcommit", "wait_for_resources", "stop_grace",
		"log"} {
		if e.Has(key) {
			list = append(list, doubt(e.PosOf(key), "%s has no effect: your own program trains the trials: leave "+
				"it out", key))
		}
	}
	return slices.Concat(list, zeros(e))
}

// zeros warns of limits of 0, which are none, or are the default: who writes one may expect that it holds at once.
func zeros(e *config.Experiment) (list []*config.Error) {
	const none = "0 is no limit"
	for _, k := range []struct {
		key  string
		zero bool
		why  string
	}{
		{"stop.time", e.Stop.Time == 0, none},
		{"stop.time_total_s", e.Stop.Time == 0, none},
		{"budget.time", e.Budget.Time == 0, none},
		{"checkpoint.disk", e.Checkpoint.Disk == 0, none},
		{"sandbox.memory", e.Sandbox.Memory == 0, "0 is the default, 256MiB"},
		{"sandbox.call_timeout", e.Sandbox.CallTimeout == 0, "0 is the default of each call"},
	} {
		if k.zero && e.Has(k.key) {
			list = append(list, doubt(e.PosOf(k.key), "%s has no effect: %s: leave it out", k.key, k.why))
		}
	}
	return list
}

// uncalled warns of deadlines of calls that nobody makes.
func uncalled(e *config.Experiment) (list []*config.Error) {
	isPlugin := func(r config.PluginRef) bool { return !config.IsFormat(r) }
	for _, k := range []struct {
		call   string
		called bool
		who    string
	}{
		{"lease", e.Leased(), "an executor, and trials run on this machine"},
		{"request", !isCommand(e), "a plugin that trains, and this trainable is a command"},
		{"report", slices.ContainsFunc(e.Reporters, isPlugin), "a reporter that is a plugin, and there is none"},
	} {
		if key := "deadlines." + k.call; e.Has(key) && !k.called {
			list = append(list, doubt(e.PosOf(key), "%s has no effect: it is a call of %s: leave it out", key, k.who))
		}
	}
	return list
}
