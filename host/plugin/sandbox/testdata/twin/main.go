// Command twin is the bundled searchers and schedulers as a module: which, say the
// variables SEARCHER and SCHEDULER.
package main

import (
	"os"

	"github.com/tunehost/tunehost/host/plugin/sandbox/testdata/twin/bundle"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

func main() {
	var set serve.Set
	if p, ok := bundle.Searchers[os.Getenv("SEARCHER")]; ok {
		set.Searcher = &p
	}
	if p, ok := bundle.Schedulers[os.Getenv("SCHEDULER")]; ok {
		set.Scheduler = &p
	}
	serve.Run(set)
}
