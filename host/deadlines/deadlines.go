// Package deadlines says how long each call of a plugin may take, and carries that
// limit in a context so that an error can name it. The experiment file sets limits
// with the key deadlines; [Table] has the rest.
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
	// Start is a plugin's process: started, connected and asked what it is.
	Start Call = "start"
	// Open hands a searcher, scheduler or reporter its problem and options.
	Open Call = "open"
	// Observe, Suggest, Decide and Snapshot are those of searchers and schedulers.
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
)

// Row is a call with the limit that it has unless the experiment file sets another.
type Row struct {
	Call  Call
	Limit time.Duration
	What  string
}

// Table has every call.
var Table = []Row{
	{Start, 30 * time.Second, "a plugin's process is ready and has said what it is"},
	{Open, time.Minute, "a searcher, scheduler or reporter takes its problem and options"},
	{Observe, time.Minute, "a searcher takes in what has happened"},
	{Suggest, time.Minute, "a searcher suggests"},
	{Decide, time.Minute, "a scheduler decides"},
	{Snapshot, time.Minute, "a searcher or scheduler hands over its state"},
	{Load, 30 * time.Minute, "a trainable takes its options and loads its data"},
	{Begin, time.Minute, "a trainable that was handed a trial says that the trial has started"},
	{Request, time.Minute, "a trainable says what a trial needs"},
	{Report, time.Minute, "a reporter takes events"},
}

// Bundled is the limit of the bundled plugins' calls: they do not hang, and a
// machine that is overloaded shall not end an experiment.
const Bundled = 5 * time.Minute

// Limits are those that an experiment file sets.
type Limits map[Call]time.Duration

// Of is the limit of a call.
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

// Notice is when the user is told of a call that is overdue but not given up.
func Notice(limit time.Duration) time.Duration {
	return min(limit/2, max(10*time.Second, limit/60))
}

type key struct{}

// Within is a context that ends after d and knows it; 0: when its parent does.
func Within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithValue(ctx, key{}, d), d)
}

// For says how long a call had, as " for 1m"; " within its deadline" where its
// context does not know.
func For(ctx context.Context) string {
	if d, ok := ctx.Value(key{}).(time.Duration); ok {
		return " for " + Text(d)
	}
	return " within its deadline"
}

// Text is a duration without the parts that are zero: 1m, not 1m0s.
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
