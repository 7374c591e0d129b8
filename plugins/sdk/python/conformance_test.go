package python_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// shown are the plugins of the README: kind, name, and parameters to train with.
var shown = []struct {
	kind          sdk.Kind
	heading, name string
	params        string
}{
	{sdk.KindSearcher, "Write a searcher in Python", "Nearby", ""},
	{sdk.KindSearcher, "Write a searcher in Python", "anywhere", ""},
	{sdk.KindScheduler, "A scheduler", "cutoff", ""},
	{sdk.KindTrainable, "A trainable", "Fit", `{"lr": 0.5}`},
}

// page writes a plugin of the README to a file, with the lines that a reader adds to a fragment.
func page(t *testing.T, heading, name string) string {
	t.Helper()
	for _, block := range strings.Split(section(t, heading), "```python\n")[1:] {
		code, _, _ := strings.Cut(block, "```")
		if !strings.Contains(code, "def "+name+"(") && !strings.Contains(code, "class "+name+"(") {
			continue
		}
		if !strings.Contains(code, "tunehost.serve(") {
			code = "import tunehost\n" + code + "\ntunehost.serve(" + name + ")\n"
		}
		script := filepath.Join(t.TempDir(), strings.ToLower(name)+".py")
		if err := os.WriteFile(script, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		return script
	}
	t.Fatalf("the page has no %s under %q", name, heading)
	return ""
}

const lrMomentum = `{"lr": 0.001, "momentum": 0.5}`

// TestConformance runs the suite on all samples and all plugins of the README.
func TestConformance(t *testing.T) {
	t.Parallel()
	conforms(t, sdk.KindSearcher, "samples/climber.py", "")
	conforms(t, sdk.KindScheduler, "samples/halfway.py", "")
	conforms(t, sdk.KindExecutor, "../../../host/scaffold/templates/python/executor/main.py", "")
	conforms(t, sdk.KindTrainable, "samples/descent.py", lrMomentum)
	conforms(t, sdk.KindTrainable, "samples/descent_resumable.py", lrMomentum)
	for _, p := range shown {
		conforms(t, p.kind, page(t, p.heading, p.name), p.params)
	}
}

func conforms(t *testing.T, kind sdk.Kind, script, params string) {
	c := config(t, kind, script)
	c.Log = nil // it outlives the test that owns the log
	t.Run(filepath.Base(script), func(t *testing.T) {
		t.Parallel()
		conformance.RunAll(t, kind, conformance.Process(c), conformance.Options{Short: true, Params: []byte(params)})
	})
}
