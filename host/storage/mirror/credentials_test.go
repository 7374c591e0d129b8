package mirror

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// clean removes variables until the end of the test.
func clean(t *testing.T, names ...string) {
	for _, name := range names {
		t.Setenv(name, "")
		_ = os.Unsetenv(name)
	}
}

// The client of S3 asks at the address of machines of Amazon only if somebody listens there, unless the user has said
// what it does.
func TestMetadataAddress(t *testing.T) {
	const storage = "s3://bucket/results"
	clean(t, metadataOff, metadataEndpoint, "AWS_ACCESS_KEY_ID")
	off := func() string { return os.Getenv(metadataOff) }
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + l.Addr().String()
	_ = l.Close()
	t.Setenv(metadataEndpoint, nobody)
	withMetadata(t.Context(), "file:///shared")
	if off() != "" {
		t.Error("a folder needs no credentials")
	}
	withMetadata(t.Context(), storage)
	if off() != "true" {
		t.Error("it is asked, and nobody listens")
	}
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	t.Setenv(metadataEndpoint, server.URL)
	withMetadata(t.Context(), storage)
	if off() != "" {
		t.Error("it is not asked, and somebody listens now")
	}
	t.Setenv(metadataEndpoint, nobody)
	t.Setenv(metadataOff, "false")
	withMetadata(t.Context(), storage)
	if off() != "false" {
		t.Error("the user's choice is replaced")
	}
}

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
