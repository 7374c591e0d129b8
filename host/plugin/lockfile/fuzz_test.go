package lockfile

import (
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// FuzzRead checks that a tunehost.lock is refused in one line, or that plugins are compared with it.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"version":1,"plugins":[{"kind":"searcher","name":"mine","transport":"process","path":"/p",` +
		`"sha256":"aa","files":{"a":"b"},"grants":{"clock":true}}]}`))
	f.Add([]byte(`{"version":1,"plugins":null}`))
	f.Add([]byte(`{"version":1,"plugins":[{"kind":"searcher","name":"mine","transport":"wa\nsm\u001b[2J"}]}`))
	f.Add([]byte(`{"version":1,"plugins":[{"files":{"../x":null}}]}`))
	now := Plugin{Kind: sdk.KindSearcher, Name: "mine", Transport: "process", Path: "/p", SHA256: "aa",
		Files: map[string]string{"a": "b"}}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := parse("tunehost.lock", text)
		if err == nil {
			err = l.Allows(now)
			if !l.Same(l) {
				t.Fatal("it differs from itself")
			}
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Fatalf("several lines: %q", err)
		}
	})
}
