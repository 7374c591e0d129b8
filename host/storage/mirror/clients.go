package mirror

import "fmt"

// clients says, for each scheme whose client is behind a build tag, how to get a tunehost that has it.
var clients = map[string]string{
	"s3": "build it with `go build -tags s3 ./cmd/tunehost`, or use the one in the wheels " +
		"(`pip install tunehost-hpo`)",
	"gs":     "build it with `go build -tags gcs ./cmd/tunehost`",
	"azblob": "build it with `go build -tags azure ./cmd/tunehost`",
}

// HasClient reports whether this program has the client for URLs with a scheme.
func HasClient(scheme string) bool { return scheme == "file" || hasCloud(scheme) }

// needsClient returns an error if this program has no client for a URL.
func needsClient(storage, scheme string) error {
	if HasClient(scheme) {
		return nil
	}
	if how, ok := clients[scheme]; ok {
		return fmt.Errorf("%s: this tunehost was built without the client for %s://; %s", storage, scheme, how)
	}
	return fmt.Errorf("%s: unknown storage %s://, expected file://, s3://, gs:// or azblob://", storage, scheme)
}
