//go:build s3

package mirror

import (
	"strings"
	"testing"
)

// What is wrong with a storage is said in few words, which are the same for each object.
func TestInWords(t *testing.T) {
	clean(t, metadataOff, metadataEndpoint, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE")
	for name, value := range map[string]string{"AWS_SHARED_CREDENTIALS_FILE": "/no/file", "AWS_CONFIG_FILE": "/no/file",
		metadataEndpoint: "http://127.0.0.1:1", "AWS_MAX_ATTEMPTS": "1"} {
		t.Setenv(name, value)
	}
	var here string // what this machine says
	says := func(key string) string {
		t.Helper()
		url := "s3://bucket/results?endpoint=http://127.0.0.1:1&region=eu-west-1&use_path_style=true"
		x, err := OpenSeen(t.Context(), url)
		if err == nil {
			defer x.Close()
			_, err = x.Mark(t.Context(), key)
		}
		if err == nil {
			t.Fatal("it can be used")
		}
		_, here, _ = strings.Cut(err.Error(), "use_path_style=true: ")
		return InWords(url, err).Error()
	}
	for range 2 {
		want := "no credentials for s3://bucket/results (give the nodes credentials of their own)"
		if got := says("mark-1"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if !strings.HasPrefix(here, "no credentials were found; ") {
			t.Errorf("this machine says %q", here)
		}
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "well-kept")
	first, second := says("mark-1"), says("mark-2")
	if first != second || !strings.HasPrefix(first, "no access to s3://bucket/results: dial tcp 127.0.0.1:1: ") {
		t.Errorf("%q, %q", first, second)
	}
	if !strings.HasPrefix(here, "dial tcp 127.0.0.1:1: ") {
		t.Errorf("this machine says %q", here)
	}
}
