//go:build s3 || gcs || azure

package mirror

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"
)

// silent sends nothing until its call is given up, as a store's client does.
type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, errors.New("cancelled")
}

func (silent) Close() error { return nil }

// A store that does not answer, or stops in the middle of an object, is given up.
func TestPatience(t *testing.T) {
	t.Parallel()
	_, err := within(t.Context(), time.Millisecond, func(ctx context.Context) (io.ReadCloser, error) {
		_, err := silent{ctx}.Read(nil)
		return nil, err
	})
	if inShort(err) != "it does not answer" {
		t.Error(err)
	}
	r, err := within(t.Context(), time.Millisecond, func(ctx context.Context) (io.ReadCloser, error) {
		return silent{ctx}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = io.ReadAll(r); inShort(err) != "it does not answer" {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
