package host

import (
	"io"

	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/plugin/standard"
)

// Experiment is what [Run] runs: an experiment file, or its text.
type Experiment struct {
	file string
	text []byte
}

// File is the experiment of a file.
func File(path string) Experiment { return Experiment{file: path} }

// Text is the experiment of a text as in a file, in YAML or JSON. It is read as if it were
// the file of that path: messages name it, its base name is the experiment's name unless the
// text has one, and programs in the text are relative to its folder. There need not be one.
func Text(path string, text []byte) Experiment {
	if text == nil {
		text = []byte{} // nil: it is in the file
	}
	return Experiment{path, text}
}

// Running is an experiment that a host in this process runs.
type Running = options.Running

// setDefaults fills in what the caller has left out.
func setDefaults(o *Options) {
	if o.Plugins == nil {
		o.Plugins = standard.Plugins()
	}
	if o.Stdout == nil {
		o.Stdout = io.Discard
	}
	if o.Stderr == nil {
		o.Stderr = io.Discard
	}
}
