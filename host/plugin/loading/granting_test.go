package loading

import (
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin/folder"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func TestUngranted(t *testing.T) {
	boxed := &folder.Plugin{Dir: "/p/mine", Transport: folder.WASM, Env: []string{"KEY"},
		Wants: config.Grant{Read: []string{"/data/sets", "tables"}, Write: []string{"/tmp/x y"}, Clock: true}}
	whole := "{read: [/data/sets, /p/mine/tables], write: [\"/tmp/x y\"], env: [KEY], clock: true}"
	for _, c := range []struct {
		given  config.Grant
		others bool
		want   string // the end of the error
	}{
		{config.Grant{}, false, "write: grants: {mine: " + whole + "}"},
		{config.Grant{}, true, "write under grants: mine: " + whole},
		{config.Grant{Read: []string{"/data"}, Write: []string{"/tmp"}, Env: []string{"KEY"}, Clock: true}, true,
			`mine: {read: [/data, /data/sets, /p/mine/tables], write: [/tmp, "/tmp/x y"], env: [KEY], clock: true}`},
		{config.Grant{Read: []string{"/data", "/p"}, Write: []string{"/tmp"}, Env: []string{"KEY", "B"}, Clock: true},
			true, ""},
		{config.Grant{Write: []string{"/"}, Env: []string{"KEY"}, Clock: true}, true, ""},
		{config.Grant{Read: []string{"/"}, Write: []string{"/tmp/x"}, Env: []string{"KEY"}, Clock: true}, true,
			"clock: true}"},
	} {
		err := ungranted(sdk.KindSearcher, "mine", boxed, c.given, c.others)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), c.want)) {
			t.Errorf("given %+v: %v, want %q", c.given, err, c.want)
		}
	}
	// The variables of a program need no grant.
	if err := ungranted(sdk.KindSearcher, "mine", &folder.Plugin{Transport: folder.Process, Env: []string{"KEY"}},
		config.Grant{}, false); err != nil {
		t.Error(err)
	}
}

// The suggested line, written to a file, grants what was meant.
func TestGrantIsYAML(t *testing.T) {
	for _, name := range []string{"mine", "./plugins/mine", "true", "1e3", "a: b", "null", "x#y"} {
		text := "version: 1\nobjective: {metric: a, mode: max}\ngrants: {" + yamlText(name) + ": " +
			flow(config.Grant{Read: []string{name}}) + "}\n"
		e, err := config.Parse("x.yaml", []byte(text), config.WithoutTrainable())
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if g, ok := e.Grants[name]; !ok || g.Read[0] != name {
			t.Errorf("%s is read as %+v", text, e.Grants)
		}
	}
}
