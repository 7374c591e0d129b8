package loading

import (
	"testing"

	"github.com/tunehost/tunehost/host/plugin/folder"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func TestDifferences(t *testing.T) {
	own := &folder.Plugin{Dir: "/x", Path: "/x", Name: "own", Version: "1.0.0"}
	for _, c := range []struct {
		plugin *folder.Plugin
		info   sdk.Info
		want   string
	}{
		{own, sdk.Info{Name: "own", Version: "1.0.0"}, ""},
		{own, sdk.Info{Name: "own", Version: "1.1.0"},
			"/x/plugin.yaml says the version 1.0.0, and its program 1.1.0: write the same in both"},
		{own, sdk.Info{Name: "other", Version: "2"}, "/x/plugin.yaml says the name own, and its program other; " +
			"the version 1.0.0, and its program 2: write the same in both"},
		{&folder.Plugin{Dir: "/x", Path: "/x", Name: "own"}, sdk.Info{Name: "own", Version: "2"}, ""},
		{&folder.Plugin{Path: "/x.py", Name: "x"}, sdk.Info{Name: "own", Version: "2"}, ""},
		{nil, sdk.Info{Name: "tpe"}, ""},
	} {
		if got := Differences(c.plugin, c.info); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
