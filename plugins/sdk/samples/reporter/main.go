// Command reporter is a sample reporter plugin: it appends events to a file, as JSON lines. Build
// it, and name it in an experiment file:
//
//	reporters: [jsonl, {plugin: ./reporter, file: events.jsonl}]
package main

import (
	"github.com/tunehost/tunehost/plugins/sdk/samples/reporter/lines"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

func main() { serve.Reporter(lines.Plugin) }
