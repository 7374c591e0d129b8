package loading

import (
	"fmt"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin/folder"
)

// Idle lists settings of the file that do nothing: limits of a sandbox that no plugin runs in, and grants to bundled
// plugins, which need none.
func (l *Loader) Idle() (list []*config.Error) {
	e := l.experiment
	sandboxed := false
	for _, u := range Uses(e) {
		p, err := l.Load(u.Kind, u.Ref)
		if err != nil {
			return nil // the check says so
		}
		if p.Bundled == nil {
			sandboxed = sandboxed || p.Folder.Transport != folder.Process
			continue
		}
		if _, granted := e.Grants[u.Ref.Name]; granted {
			list = append(list, &config.Error{Pos: e.PosOf("grants"), Msg: fmt.Sprintf("grants has no effect on the "+
				"bundled %s %s, which is not restricted: leave it out", u.Kind, u.Ref.Name)})
		}
	}
	if e.Has("sandbox") && !sandboxed {
		list = append(list, &config.Error{Pos: e.PosOf("sandbox"), Msg: "sandbox has no effect: no plugin of this " +
			"experiment is a WASM module, which runs in it"})
	}
	return list
}
