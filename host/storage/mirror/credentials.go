package mirror

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	metadataOff      = "AWS_EC2_METADATA_DISABLED"
	metadataEndpoint = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
	metadataAddress  = "http://169.254.169.254"
	// metadataWithin is how long the address may take. It is that of the machine itself, where there is one.
	metadataWithin = 500 * time.Millisecond
)

// switched is whether withMetadata has set metadataOff.
var switched struct {
	sync.Mutex
	off bool
}

// withMetadata has the client of S3 ask for credentials at the address that machines of Amazon have for that, only if
// somebody listens there. Else each use of the storage would wait for it for ten seconds and more.
func withMetadata(ctx context.Context, storage string) {
	u, err := url.Parse(storage)
	if err != nil || u.Scheme != "s3" {
		return
	}
	switched.Lock()
	defer switched.Unlock()
	if os.Getenv(metadataOff) != "" && !switched.off || os.Getenv("AWS_ACCESS_KEY_ID") != "" {
		return
	}
	off := !answers(ctx)
	switch {
	case off:
		_ = os.Setenv(metadataOff, "true")
	case !off && switched.off:
		_ = os.Unsetenv(metadataOff)
	}
	switched.off = off
}

// answers reports whether somebody listens at the address for credentials.
func answers(ctx context.Context) bool {
	at := os.Getenv(metadataEndpoint)
	if at == "" {
		at = metadataAddress
	}
	u, err := url.Parse(at)
	if err != nil {
		return true // the client says what is wrong with it
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	conn, err := (&net.Dialer{Timeout: metadataWithin}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

// noCredentials are parts of what clients say when they find no credentials.
var noCredentials = []string{"get credentials", "no EC2 IMDS role found", "failed to refresh cached credentials",
	"could not find default credentials", "DefaultAzureCredential"}

// InWords returns an error of a store in few words, which follow "the node has": clients add the names of their own
// calls, which differ each time.
func InWords(storage string, err error) error {
	where, _, _ := strings.Cut(storage, "?")
	if lacksCredentials(err) {
		return fmt.Errorf("no credentials for %s (give the nodes credentials of their own)", where)
	}
	return fmt.Errorf("no access to %s: %s", where, cause(err))
}

// shortError is an error of a store's client in few words. The client's own words are in what it wraps.
type shortError struct {
	text string
	err  error
}

func (e *shortError) Error() string { return e.text }

func (e *shortError) Unwrap() error { return e.err }

// inShort returns what is wrong with a store on this machine.
func inShort(err error) string {
	if lacksCredentials(err) {
		return "no credentials were found; set them as for the store's own tools, such as in AWS_ACCESS_KEY_ID"
	}
	return cause(err)
}

// lacksCredentials reports whether a client has found no credentials.
func lacksCredentials(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		text := err.Error()
		if slices.ContainsFunc(noCredentials, func(part string) bool { return strings.Contains(text, part) }) {
			return true
		}
	}
	return false
}

// cause returns the part of an error that says what is wrong.
func cause(err error) string {
	var op *net.OpError
	var answer interface {
		ErrorCode() string
		ErrorMessage() string
	}
	switch {
	case errors.As(err, &op):
		return op.Error()
	case errors.As(err, &answer):
		return answer.ErrorCode() + ": " + answer.ErrorMessage()
	case errors.Is(err, context.DeadlineExceeded):
		return "it does not answer"
	}
	return err.Error()
}
