package problem

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/steer"
)

// TestRetryAfter: only what may work a moment later says to try again, such as a request that a busy host did not take.
func TestRetryAfter(t *testing.T) {
	for _, x := range []struct {
		err   error
		again string
	}{
		{fmt.Errorf("results/x: %w", &steer.BusyError{What: "many others"}), "1"},
		{&steer.UnknownError{What: "no answer"}, "1"},
		{errors.New("no host"), ""}, {core.ErrFinished, ""}, {&steer.LossError{What: "progress"}, ""},
	} {
		var p *Problem
		if !errors.As(Of(x.err), &p) || p.GetHeaders().Get(RetryAfter) != x.again {
			t.Errorf("%v: %+v, want %q", x.err, p, x.again)
		}
		var unknown *steer.UnknownError
		want := http.StatusConflict
		if errors.As(x.err, &unknown) {
			want = http.StatusServiceUnavailable
		}
		if x.again != "" && p.Status != want {
			t.Errorf("%v: %d", x.err, p.Status)
		}
	}
}
