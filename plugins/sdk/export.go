package sdk

import "errors"

// ErrUnknownFormat is what an export function returns for a format that the
// trainable does not have. It becomes an error in the trial's record, and the
// trial ends well all the same.
var ErrUnknownFormat = errors.New("the trainable does not know this format")

// Exporter is implemented by Runs that can hand over models: those of processes.
// [ExportWith] works with every Run.
type Exporter interface {
	// Export is ExportWith of this run.
	Export(export func(format, dir string) error)
}

// ExportWith says how the model of this run is written: export is called when
// the trial has ended well, which is after Train has returned nil or
// [ErrStopped], once for each of [Trial.Export], on the same goroutine. It
// writes the model in that format into the empty folder dir, or returns
// [ErrUnknownFormat] or what else went wrong. A stopped trial's exports are made
// within its grace time. Where nothing is to be exported, or the Run cannot
// (a WASM module has no files), export is not called.
func ExportWith(run Run, export func(format, dir string) error) {
	if x, ok := run.(Exporter); ok {
		x.Export(export)
	}
}
