package files

import (
	"bytes"
	"path/filepath"

	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/view"
)

// maxParams is larger than any params.json, in bytes.
const maxParams = 1 << 26

// settleParams restores the params.json of the last result, if a trial has ended before it reported
// anything with other parameters (B-154).
func settleParams(e *view.Event) error {
	if e.Trial.Since <= 1 || !e.Trial.State.Final() || len(e.Trial.Params) == 0 {
		return nil
	}
	path := filepath.Join(e.Trial.Dir, "params.json")
	want := append(bytes.Clone(e.Trial.Params), '\n')
	if have, err := nolink.ReadFile(path, maxParams); err != nil || bytes.Equal(have, want) {
		return err
	}
	return nolink.WriteFile(path, want, fileMode)
}
