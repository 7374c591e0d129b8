package main

import (
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/plugins/catalog"
	"github.com/tunehost/tunehost/plugins/trainables/chaos"
	"github.com/tunehost/tunehost/plugins/trainables/command"
	"github.com/tunehost/tunehost/plugins/trainables/digits"
)

// plugins are those in the binary, in the order in which they are listed.
var plugins = bundled.New(all()...)

func all() (list []any) {
	for _, p := range catalog.Searchers {
		list = append(list, p)
	}
	for _, p := range catalog.Schedulers {
		list = append(list, p)
	}
	return append(list, command.Plugin(), digits.Plugin, chaos.Plugin)
}
