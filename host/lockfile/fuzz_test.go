package lockfile

import (
	"os"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// FuzzRead: whatever is in tunehost.lock, it is refused in one line, or plugins are held
// against it.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"version":1,"plugins":[{"kind":"searcher","name":"mine","transport":"process","path":"/p","sha256":"aa","files":{"a":"b"},"grants":{"clock":true}}]}`))
	f.Add([]byte(`{"version":1,"plugins":null}`))
	f.Add([]byte(`{"version":1,"plugins":[{"files":{"../x":null}}]}`))
	dir, err := storage.At(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	now := Plugin{Kind: sdk.KindSearcher, Name: "mine", Transport: "process", Path: "/p", SHA256: "aa", Files: map[string]string{"a": "b"}}
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(Path(dir), text, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := Read(dir)
		if err == nil {
			err = l.Allows(now)
			if !l.Same(l) {
				t.Fatal("it differs from itself")
			}
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Fatalf("several lines: %q", err)
		}
	})
}
