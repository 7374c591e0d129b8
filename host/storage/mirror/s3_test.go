//go:build s3

package mirror_test

import (
	"io/fs"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/tunehost/tunehost/host/storage/mirror"
)

// B-059: the same with an object store that speaks S3's protocol.
func TestS3(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "well-kept")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	backend := s3mem.New()
	if err := backend.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	defer server.Close()
	q := url.Values{"endpoint": {server.URL}, "region": {"eu-west-1"}, "use_path_style": {"true"}}
	u := "s3://bucket/prefix/name?" + q.Encode()
	a := on(t, u).begin()
	a.record("one")
	a.checkpoint(1, "first")
	a.checkpoint(2, strings.Repeat("second", 1000))
	a.record("two")
	mirror.Round(t, a.mirror)
	a.remove(1)
	a.record("three")
	a.end()
	b := on(t, u).begin()
	if got := strings.Join(b.records(), " "); got != "one two three" {
		t.Errorf("%q", got)
	}
	if b.state(1) != "" || b.state(2) != strings.Repeat("second", 1000) {
		t.Errorf("%q, %d bytes", b.state(1), len(b.state(2)))
	}
	names, err := mirror.Names(t.Context(), "s3://bucket/prefix?"+q.Encode())
	if err != nil || len(names) != 1 || names[0] != "name" {
		t.Errorf("%v, %v", names, err)
	}
	b.end()
	noSecrets(t, a.dir.Path())
	noSecrets(t, b.dir.Path())
}

// noSecrets checks that credentials are not written to files.
func noSecrets(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), "well-kept") {
			t.Errorf("%s has the secret in it", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
