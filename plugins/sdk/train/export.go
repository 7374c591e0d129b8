package train

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Export implements sdk.Exporter.
func (r *run) Export(export func(format, dir string) error) {
	r.exporter = exporter{export, resolved(r.trial.ExportDir)}
}

// exportAll writes the model of a successful trial in the requested formats. A format that fails does
// not fail the trial.
func (r *run) exportAll(err error) {
	if r.export == nil || !r.endsWell(err) {
		return
	}
	for _, format := range r.trial.Export {
		e := Event{Kind: Exported, Run: r.id, Format: format}
		if err := r.exportAs(format); err != nil {
			e.Error = cut(err.Error())
		}
		r.s.out.Push(e)
	}
}

// endsWell reports whether the trial completed, or was stopped for good and not killed.
func (r *run) endsWell(err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.killed || !r.told && r.ctx.Err() != nil || r.paused && !r.done {
		return false
	}
	return err == nil || errors.Is(err, sdk.ErrStopped) && !errors.Is(err, sdk.ErrPaused)
}

func (r *run) exportAs(format string) (err error) {
	dir := filepath.Join(r.trial.ExportDir, format)
	if err := r.empty(dir, format); err != nil {
		return err
	}
	defer func() {
		if v := recover(); v != nil {
			r.Log(fmt.Sprintf("panic: %v\n%s", v, debug.Stack()))
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return r.exporter.export(format, dir)
}

// empty makes an empty folder for a model. If a link was put on the way to it while the trial ran, the files there are
// somebody else's.
func (e *exporter) empty(dir, format string) error {
	if now := resolved(dir); now != filepath.Join(e.place, format) {
		return fmt.Errorf("%s leads to %s since the trial started, and links are not followed", dir, now)
	}
	return errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700))
}

// resolved resolves the links of a path whose last elements need not exist.
func resolved(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err == nil || filepath.Dir(path) == path {
		return cmp.Or(real, path)
	}
	return filepath.Join(resolved(filepath.Dir(path)), filepath.Base(path))
}
