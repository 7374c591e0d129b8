package naming

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/config"
)

// safe matches names that every file system and shell accepts.
var safe = regexp.MustCompile(`^[0-9]{5,10}_[0-9a-z]{7}[-A-Za-z0-9=.+_,@]*$`)

// FuzzDir checks that for any template and parameters a trial's directory has a portable name that no
// other trial has, even where the file system ignores case. B-090
func FuzzDir(f *testing.F) {
	for _, s := range hostile {
		f.Add(s.name, "{model/units}", uint32(3))
		f.Add("{number}-{lr}-{id}", s.name, uint32(4_294_967_295))
	}
	e, err := config.Parse("x.yaml", []byte(file), config.WithoutTrainable())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, template, value string, no uint32) {
		text, err := json.Marshal(map[string]any{"lr": value, "batch": 32})
		if err != nil {
			t.Fatal(err)
		}
		x := *e
		for _, x.TrialName = range []string{template, ""} {
			name := Dir(&x, 7, no, text, 0)
			if len(name) > 200 || !safe.MatchString(name) || !filepath.IsLocal(name) || filepath.Base(name) != name ||
				strings.HasSuffix(name, ".") {
				t.Fatalf("%q", name)
			}
			if other := Dir(&x, 7, no^1, text, 0); strings.EqualFold(name, other) {
				t.Fatalf("two trials have %q", name)
			}
		}
	})
}
