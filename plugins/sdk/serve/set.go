package serve

import (
	"os"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// A Set is what one program serves: at most one plugin of each kind.
type Set struct {
	Searcher  *sdk.SearcherPlugin
	Scheduler *sdk.SchedulerPlugin
	Trainable *sdk.TrainablePlugin
	Reporter  *sdk.ReporterPlugin
	Executor  *sdk.ExecutorPlugin
}

// Searcher serves a searcher and exits the process.
func Searcher(p sdk.SearcherPlugin) { os.Exit(Run(Set{Searcher: &p})) }

// Scheduler serves a scheduler and exits the process.
func Scheduler(p sdk.SchedulerPlugin) { os.Exit(Run(Set{Scheduler: &p})) }

// Trainable serves a trainable and exits the process.
func Trainable(p sdk.TrainablePlugin) { os.Exit(Run(Set{Trainable: &p})) }

// Reporter serves a reporter and exits the process. A WASM module cannot be a reporter.
func Reporter(p sdk.ReporterPlugin) { os.Exit(Run(Set{Reporter: &p})) }

// Executor serves an executor and exits the process. A WASM module cannot be an executor.
func Executor(p sdk.ExecutorPlugin) { os.Exit(Run(Set{Executor: &p})) }

// infos returns the descriptions of the plugins.
func (s Set) infos() (infos []sdk.Info) {
	add := func(k sdk.Kind, i sdk.Info) {
		i.Kind = k
		infos = append(infos, i)
	}
	if s.Searcher != nil {
		add(sdk.KindSearcher, s.Searcher.Info)
	}
	if s.Scheduler != nil {
		add(sdk.KindScheduler, s.Scheduler.Info)
	}
	if s.Trainable != nil {
		add(sdk.KindTrainable, s.Trainable.Info)
	}
	if s.Reporter != nil {
		add(sdk.KindReporter, s.Reporter.Info)
	}
	if s.Executor != nil {
		add(sdk.KindExecutor, s.Executor.Info)
	}
	return infos
}
