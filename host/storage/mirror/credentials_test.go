package mirror

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
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
