package sdk

import "errors"

// ErrUnknownFormat is returned by an export function for a format that the trainable does not
// support. It becomes an error in the trial's record; the trial still succeeds.
var ErrUnknownFormat = errors.New("the trainable does not know this format")

// Exporter is implemented by Runs that can export models: those of processes. [ExportWith] works
// with every Run.
type Exporter interface {
	// Export implements ExportWith for this run.
	Export(export func(format, dir string) error)
}

// ExportWith registers a function that writes the model of this run. If the trial ends successfully
// (Train returned nil or [ErrStopped]), export is called once for each of [Trial.Export], on the
// same goroutine. It writes the model in that format to the empty folder dir, or returns
// [ErrUnknownFormat] or another error. A stopped trial must export within its grace time. export is
// not called if there is nothing to export, or if the Run cannot export (a WASM module has no
// files).
func ExportWith(run Run, export func(format, dir string) error) {
	if x, ok := run.(Exporter); ok {
		x.Export(export)
	}
}
