package mirror

import (
	"context"
	"io"
	"time"
)

// bucket is what this package needs of a store: a shared directory ([directory]), or a bucket of a cloud (cloud.go).
//
// For a key that the store does not have, errors are [fs.ErrNotExist].
type bucket interface {
	open(ctx context.Context, key string) (io.ReadCloser, error)
	// write writes an object completely or not at all. If it must be new and exists, the error is [fs.ErrExist].
	write(ctx context.Context, key string, from io.Reader, isNew bool) error
	// changed returns when an object was written.
	changed(ctx context.Context, key string) (time.Time, error)
	delete(ctx context.Context, key string) error
	// list returns the objects whose keys begin with prefix, in the order of the keys.
	list(ctx context.Context, prefix string) ([]object, error)
	// folders returns what precedes the first / in keys.
	folders(ctx context.Context) ([]string, error)
	close() error
}

// object is an entry of a listing.
type object struct {
	key     string
	size    int64
	changed time.Time
}
