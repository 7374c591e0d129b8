// Package deadlines says how long each call of a plugin may take, and carries that limit in a context
// so that an error can name it. The experiment file sets limits with the key deadlines; [Table] has
// the defaults.
package deadlines

import (
	"context"
	"strings"
	"time"
)

// Call is a call that has a deadline, as the key deadlines names it.
type Call string

// The calls.
const (
	// Start is the start of a plugin's process: it is started, connected and asked what it is.
	Start Call = "start"
	// Open gives a searcher, scheduler, reporter or executor its problem and options.
	Open Call = "open"
	// Observe, Suggest, Decide and Snapshot are calls of searchers and schedulers.
	Observe  Call = "observe"
	Suggest  Call = "suggest"
	Decide   Call = "decide"
	Snapshot Call = "snapshot"
	// Load is a trainable's Open, in which it may load its data.
	Load Call = "load"
	// Begin is the time from a trial's START to the trainable's STARTED.
	Begin Call = "begin"
	// Request asks a trainable what a trial needs.
	Request Call = "request"
	// Report tells a reporter events.
	Report Call = "report"
	// Lease has an executor ask for leases, adopt them or give them back.
	Lease Call = "lease"
)

// Row is a call with its default limit.
type Row struct {
	Call  Call
	Limit time.Duration
	What  string
}

// Table has every call.
var Table = []Row{
	{Start, 30 * time.Second, "a plugin's process starts and describes itself"},
	{Open, time.Minute, "a searcher, scheduler, reporter or executor opens with its problem and options"},
	{Observe, time.Minute, "a searcher processes events"},
	{Suggest, time.Minute, "a searcher suggests"},
	{Decide, time.Minute, "a scheduler decides"},
	{Snapshot, time.Minute, "a searcher or scheduler hands over its state"},
	{Load, 30 * time.Minute, "a trainable opens with its options and loads its data"},
	{Begin, time.Minute, "a trainable starts a trial"},
	{Request, time.Minute, "a trainable says what a trial needs"},
	{Report, time.Minute, "a reporter takes events"},
	{Lease, time.Minute, "an executor asks for leases, or gives them back"},
}

// Bundled is the limit of the bundled plugins' calls: they do not hang, and an overloaded machine must
// not end an experiment.
const Bundled = 5 * time.Minute

// Limits are the limits that an experiment file sets.
type Limits map[Call]time.Duration

// Of returns the limit of a call.
func (l Limits) Of(c Call) time.Duration {
	if d, ok := l[c]; ok {
		return d
	}
	for _, r := range Table {
		if r.Call == c {
			return r.Limit
		}
	}
	return 0
}

// Notice is when the user is told of a call that is late but not given up.
func Notice(limit time.Duration) time.Duration {
	return min(limit/2, max(10*time.Second, limit/60))
}

type key struct{}

// Within returns a context that ends after d and knows d; 0: it ends with its parent.
func Within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithValue(ctx, key{}, d), d)
}

// For says how long a call had, as in " for 1m"; " within its deadline" if the context does not know.
func For(ctx context.Context) string {
	if d, ok := ctx.Value(key{}).(time.Duration); ok {
		return " for " + Text(d)
	}
	return " within its deadline"
}

// Text writes a duration without the parts that are zero: 1m, not 1m0s.
func Text(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
