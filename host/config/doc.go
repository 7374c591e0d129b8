// Package config reads experiment files: strict YAML 1.2 (or JSON) in, a typed
// [Experiment] out, or every mistake in it at once, each in one line with file,
// line, column, what was expected and the nearest known name.
//
// One table (keys.go) says which keys exist, of which form, with which default
// and description; the parser, [Schema] (for editors) and [Reference] (for
// people) all follow from it. What a table cannot say (bounds in order,
// conditions that refer to earlier parameters, points inside the space) is
// checked afterwards, so that a file that [Parse] takes can be run.
//
// Options of plugins are kept as JSON with their places; [CheckOptions] checks
// them once the plugin's schema is known. The package reads one file and touches
// nothing else: no environment, no clock, no plugins. It is for the host and the
// command line; plugins never see the file.
//
// [ParseManifest] reads a plugin's plugin.yaml with the same machinery.
package config
