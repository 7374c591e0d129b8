// Package config reads experiment files. It takes strict YAML 1.2 (or JSON) and returns a typed
// [Experiment], or all mistakes at once: one line each, with file, line, column, what was expected and
// the nearest known name.
//
// One table (keys.go) lists the keys with their forms, defaults and descriptions; the parser, [Schema]
// (for editors) and [Reference] (for people) follow from it. Rules that a table cannot express (the
// order of bounds, conditions that refer to earlier parameters, points inside the space) are checked
// afterwards, so that a file that [Parse] accepts can be run.
//
// Options of plugins are kept as JSON with their places; [CheckOptions] checks them once the plugin's
// schema is known. The package reads one file and nothing else: no environment, no clock, no plugins.
// It serves the host and the command line; plugins never see the file.
//
// [ParseManifest] reads a plugin's plugin.yaml in the same way.
package config
