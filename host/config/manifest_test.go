package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestManifestMistakes shows the messages for mistakes of plugin authors.
func TestManifestMistakes(t *testing.T) {
	datadriven.RunTest(t, "testdata/manifest.txt", func(t *testing.T, d *datadriven.TestData) string {
		if _, err := ParseManifest("plugin.yaml", []byte(d.Input)); err != nil {
			return err.Error() + "\n"
		}
		return "ok\n"
	})
}

func TestManifest(t *testing.T) {
	sum := strings.Repeat("0aF3", 16)
	m, err := ParseManifest("plugin.yaml", fmt.Appendf(nil, `
kind: searcher
name: my-own
version: 1.2
summary: Looks around.
command: [python3, main.py, --fast]
sha256: {main.py: %s, ./lib/a.py: %[1]s}
env: [API_KEY]
grants: {read: [/data], clock: true}
`, sum))
	if err != nil {
		t.Fatal(err)
	}
	want := &Manifest{Kind: "searcher", Name: "my-own", Version: "1.2", Summary: "Looks around.",
		Command: []string{"python3", "main.py", "--fast"},
		SHA256:  map[string]string{"main.py": strings.ToLower(sum), "lib/a.py": strings.ToLower(sum)},
		Env:     []string{"API_KEY"}, Wants: Grant{Read: []string{"/data"}, Clock: true}, File: "plugin.yaml"}
	if d := cmp.Diff(want, m, cmpopts.IgnoreUnexported(Manifest{})); d != "" {
		t.Error(d)
	}
	if got := m.PosOf("env").String(); got != "plugin.yaml:8:1" {
		t.Errorf("env is at %s", got)
	}
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte("kind: searcher\nname: a\ncommand: [a]\n"))
	f.Add([]byte("{kind: x, module: ../a, sha256: {.: 1}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest("plugin.yaml", data)
		if (m == nil) == (err == nil) {
			t.Fatalf("%v, %v", m, err)
		}
	})
}
