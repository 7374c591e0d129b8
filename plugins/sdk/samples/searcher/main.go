package main

import (
	"github.com/tunehost/tunehost/plugins/sdk/serve"
	"github.com/tunehost/tunehost/plugins/searchers/random"
)

func main() { serve.Searcher(random.Plugin) }
