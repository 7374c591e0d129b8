package serve

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// An open page looks about once a second, and then reads what has changed. The server waits only if a page has
// asked within the time recently. farewell is how long the end is shown, from the first request after it. slowest
// is how long the server waits for that request, which comes late on a busy machine.
const (
	recently = 3 * time.Second
	farewell = 3 * time.Second
	slowest  = 8 * time.Second
)

// lately is when the last request came, in Unix nanoseconds.
type lately struct{ last atomic.Int64 }

// noting notes when requests come.
func (a *lately) noting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.last.Store(time.Now().UnixNano())
		next.ServeHTTP(w, r)
	})
}

func (a *lately) at() time.Time { return time.Unix(0, a.last.Load()) }

// Farewell returns when open pages have had time to read how the experiment has ended: at once if nobody has asked
// lately, or when the context ends.
func (s *Server) Farewell(ctx context.Context) {
	ended := time.Now()
	if ended.Sub(s.asked.at()) > recently {
		return
	}
	for left := slowest; left > 0 && !s.asked.at().After(ended); left -= farewell / 100 {
		if !sleep(ctx, farewell/100) {
			return
		}
	}
	if s.asked.at().After(ended) {
		sleep(ctx, farewell)
	}
}

// sleep reports whether the time has passed before the context has ended.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
