package serve

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// farewell is how long the end of an experiment is shown before its server ends, and how recently somebody must have
// asked: an open page looks once a second, and then reads what has changed.
const farewell = 3 * time.Second

// lately is when the last request came, in Unix nanoseconds.
type lately struct{ last atomic.Int64 }

// noting notes when requests come.
func (a *lately) noting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.last.Store(time.Now().UnixNano())
		next.ServeHTTP(w, r)
	})
}

// Farewell returns when open pages have had time to read how the experiment has ended: at once if nobody has asked
// lately, else after three seconds, or when the context ends.
func (s *Server) Farewell(ctx context.Context) {
	if time.Since(time.Unix(0, s.asked.last.Load())) > farewell {
		return
	}
	select {
	case <-time.After(farewell):
	case <-ctx.Done():
	}
}
