package snapshots

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// FuzzSnapshot checks that a file of a plugin's state is ignored, or gives the state that its first
// line describes.
func FuzzSnapshot(f *testing.F) {
	sum := sha256.Sum256([]byte("state"))
	f.Add([]byte(`{"of":"x","at":7,"bytes":5,"sha256":"` + hex.EncodeToString(sum[:]) + "\"}\nstate"))
	f.Add([]byte(`{"of":"x","at":7,"bytes":-1}`))
	f.Add([]byte("\n\n"))
	dir := Folder(f.TempDir())
	s := New(dir, sdk.KindSearcher, "x", Every, hostlog.New(hclog.NewNullLogger()))
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(dir.file(s.name(7)), text, 0o600); err != nil {
			t.Fatal(err)
		}
		state, at := s.Newest(9)
		if at != 0 && (at != 7 || len(state) >= len(text)) {
			t.Fatalf("a state of %d bytes at %d", len(state), at)
		}
	})
}
