package naming

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/config"
)

// hostile are names that cause trouble in file systems, shells or to readers.
var hostile = []struct{ what, name string }{
	{"parent folders", "../../x"},
	{"an absolute path", "/etc/x"},
	{"a folder", "a/b"},
	{"a Windows path", `..\x`},
	{"a drive", "C:x"},
	{"a stream", "x:y"},
	{"an option", "-rf"},
	{"NUL", "a\x00b"},
	{"a new line", "a\nb"},
	{"an escape sequence", "\x1b[2J"},
	{"right-to-left override", "a\u202egnp.exe"},
	{"a reserved name", "con"},
	{"a reserved name with an ending", "nul.txt"},
	{"300 bytes", strings.Repeat("x", 300)},
	{"300 signs of two bytes", strings.Repeat("é", 300)},
	{"full-width dots", "\uff0e\uff0e/x"},
	{"a dot at the end", "x."},
	{"a space at the end", "x "},
	{"lower case", "case"},
	{"upper case", "CASE"},
	{"composed", "\u00e9"},
	{"decomposed", "e\u0301"},
	{"no UTF-8", "\xff\xfe"},
	{"a tilde", "~root"},
	{"a variable", "$HOME`id`"},
	{"a quote", `'"`},
	{"nothing", ""},
	{"dots", ".."},
}

// A name from a user or a parameter is only a label: the directory's name begins with the trial's
// number and id, has only plain signs, and stays below the directory of the trials. B-090
func TestHostileNames(t *testing.T) {
	root := t.TempDir()
	seen := map[string]string{}
	no := uint32(0)
	for _, h := range hostile {
		for _, template := range []string{h.name, "{lr}", ""} {
			e, err := config.Parse("x.yaml", []byte(file), config.WithoutTrainable())
			if err != nil {
				t.Fatal(err)
			}
			e.TrialName = strings.NewReplacer("{", "{{", "}", "}}").Replace(template)
			if template == "{lr}" {
				e.TrialName = template
			}
			name := Dir(e, 7, no, []byte(`{"lr":`+quoted(h.name)+`}`), 0)
			no++
			if len(name) > 200 || !safe.MatchString(name) {
				t.Errorf("%s: %q", h.what, name)
			}
			if other, taken := seen[strings.ToLower(name)]; taken {
				t.Errorf("%s: %q is %q on some file systems", h.what, name, other)
			}
			seen[strings.ToLower(name)] = name
			if err := os.Mkdir(filepath.Join(root, name), 0o700); err != nil {
				t.Errorf("%s: %v", h.what, err)
			}
		}
	}
	list, err := os.ReadDir(root)
	if err != nil || len(list) != int(no) {
		t.Errorf("%d directories for %d trials, %v", len(list), no, err)
	}
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}
