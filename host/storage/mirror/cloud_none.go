//go:build !s3 && !gcs && !azure

package mirror

import (
	"context"
	"errors"
)

// hasCloud reports whether this program has the client for URLs with a scheme.
func hasCloud(string) bool { return false }

func openCloud(context.Context, string, string) (bucket, error) { return nil, errors.ErrUnsupported }
