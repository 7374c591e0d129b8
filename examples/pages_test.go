package examples

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/internal/pages"
)

// TestPages does what pages of documentation tell their readers to do, in an empty
// folder, with nothing but tunehost.
func TestPages(t *testing.T) {
	bin := build(t)
	for _, c := range []struct {
		page, heading string
		want          []string // in what the commands print
	}{
		{"../README.md", "Write a searcher in Go", []string{"ok  searcher calls", "best    accuracy"}},
	} {
		t.Run(c.heading, func(t *testing.T) {
			text, err := os.ReadFile(c.page)
			if err != nil {
				t.Fatal(err)
			}
			blocks, err := pages.Blocks(string(text), c.heading)
			if err != nil {
				t.Fatal(err)
			}
			r := pages.Runner{Dir: t.TempDir(), Env: append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir(), "GOWORK=off",
				"PATH="+filepath.Dir(string(bin))+string(os.PathListSeparator)+os.Getenv("PATH"))}
			out, err := r.Run(blocks)
			if err != nil {
				t.Fatalf("%s: %v", c.page, err)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in what was printed:\n%s", want, out)
				}
			}
		})
	}
}
