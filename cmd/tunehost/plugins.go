package main

import "github.com/tunehost/tunehost/host/plugin/standard"

// plugins are the bundled plugins, in the order in which they are listed.
var plugins = standard.Plugins()
