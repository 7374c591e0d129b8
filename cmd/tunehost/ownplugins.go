package main

import (
	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// ownPlugins are names in experiment files for parts of the host itself.
var ownPlugins = []sdk.Info{
	{Kind: sdk.KindReporter, Name: "jsonl", Version: host.Version(), Summary: "Writes each trial's results to " +
		"result.jsonl in its directory, a JSON object a line. Part of tunehost."},
	{Kind: sdk.KindReporter, Name: "csv", Version: host.Version(), Summary: "Writes each trial's results to " +
		"progress.csv in its directory. Part of tunehost."},
	{Kind: "executor", Name: "local", Version: host.Version(),
		Summary: "Runs trials on this machine. Part of tunehost."},
}
