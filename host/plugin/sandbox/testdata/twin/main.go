// Command twin contains all searchers and schedulers of tunehost in one module; the variables SEARCHER
// and SCHEDULER select one.
package main

import (
	"os"

	"github.com/tunehost/tunehost/plugins/catalog"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

func main() {
	var set serve.Set
	for _, p := range catalog.Searchers {
		if p.Name == os.Getenv("SEARCHER") {
			set.Searcher = &p
		}
	}
	for _, p := range catalog.Schedulers {
		if p.Name == os.Getenv("SCHEDULER") {
			set.Scheduler = &p
		}
	}
	serve.Run(set)
}
