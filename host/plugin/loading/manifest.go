package loading

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/folder"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Differences says where a running plugin describes itself otherwise than its plugin.yaml; "" if nowhere. The file is
// what users see before the plugin runs, and the plugin is what the lock file has.
func Differences(p *folder.Plugin, info sdk.Info) string {
	if p == nil || p.Dir == "" {
		return "" // it has no plugin.yaml
	}
	var differ []string
	for _, x := range []struct{ key, file, program string }{
		{"name", p.Name, info.Name}, {"version", p.Version, info.Version},
	} {
		if x.file != "" && x.program != "" && x.file != x.program {
			differ = append(differ, fmt.Sprintf("the %s %s, and its program %s", x.key, x.file, x.program))
		}
	}
	if len(differ) == 0 {
		return ""
	}
	return fmt.Sprintf("%s/%s says %s: write the same in both", p.Path, config.ManifestFile, strings.Join(differ, "; "))
}

// asManifest adds to a refusal of a program of another kind where the kind is written.
func asManifest(p *folder.Plugin, err error) error {
	failed, ok := errors.AsType[*plugin.Error](err)
	if !ok || !process.IsOtherKind(err) || p.Dir == "" || p.Kind == "" {
		return err
	}
	explained := *failed
	explained.What += fmt.Sprintf(", but %s/%s says kind: %s", p.Path, config.ManifestFile, p.Kind)
	return &explained
}
