package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/runtimedir"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Open starts the plugin, anew each time. The suite closes what it gets.
type Open func(ctx context.Context) (plugin.Plugin, error)

// Options are what a run of the suite may need to be told about a plugin.
type Options struct {
	// Options is the JSON object that the plugin is opened with; empty: {}.
	Options json.RawMessage
	// Params is the JSON object of parameters that a trainable can train
	// with; empty: {}. Choose them so that a trial reports four results or
	// more, soon.
	Params json.RawMessage
	// Only names the checks to run, as [Select] has it; "": all.
	Only string
	// Short makes experiments small, for plugins that are slow to start.
	Short bool
	// Quick runs only the few checks that tell whether a plugin works at all, small and side
	// by side: `tunehost plugins check`.
	Quick bool
	// Deadline, if set, is the most that a check may take; it shortens the
	// suite's own deadlines, for plugins that are known to answer at once.
	Deadline time.Duration
}

// Outcome is what came of a check.
type Outcome string

// The outcomes.
const (
	Passed Outcome = "passed"
	Failed Outcome = "failed"
	// NotApplicable: the rule is about something that the plugin does not
	// offer, or that it was not seen to do.
	NotApplicable Outcome = "not applicable"
)

// Result is what came of one check. Its JSON is stable.
type Result struct {
	Check   string   `json:"check"`
	Outcome Outcome  `json:"outcome"`
	Rule    string   `json:"rule"`
	Source  []string `json:"source"`
	// Want and Saw say what was wrong with a check that failed, Why what
	// makes one not applicable; one line each.
	Want    string  `json:"want,omitempty"`
	Saw     string  `json:"saw,omitempty"`
	Why     string  `json:"why,omitempty"`
	Seconds float64 `json:"seconds"`
}

// Run runs the checks for a kind of plugin, one after the other, and calls each
// with every result as it comes. The error is not the plugin's: a pattern that
// names no check, a kind that has no suite.
func Run(ctx context.Context, kind sdk.Kind, open Open, o Options, each func(Result)) error {
	checks, err := Select(Checks(kind), o.Only)
	if err != nil {
		return err
	}
	if len(checks) == 0 {
		return fmt.Errorf("no check of a %s is named %q", kind, o.Only)
	}
	known := &asked{}
	one := func(c Check) Result { return run(ctx, c, kind, open, o, known) }
	if o.Quick {
		o.Short = true
		together(quick(checks), one, each)
		return ctx.Err()
	}
	for _, c := range checks {
		if err := ctx.Err(); err != nil {
			return err
		}
		each(one(c))
	}
	return nil
}

// together runs checks side by side, and calls each with their results in order.
func together(checks []Check, one func(Check) Result, each func(Result)) {
	results := make([]chan Result, len(checks))
	for i := range checks {
		results[i] = make(chan Result, 1)
	}
	go func() {
		var group errgroup.Group
		group.SetLimit(runtime.NumCPU())
		for i, c := range checks {
			group.Go(func() error {
				results[i] <- one(c)
				return nil
			})
		}
	}()
	for _, r := range results {
		each(<-r)
	}
}

// run runs one check.
func run(ctx context.Context, c Check, kind sdk.Kind, open Open, o Options, known *asked) Result {
	started := time.Now()
	limit := c.deadline()
	if o.Deadline > 0 {
		limit = min(limit, o.Deadline)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s := &subject{ctx: ctx, check: c, kind: kind, start: open, asked: known, Options: o}
	err := s.look()
	s.close()
	r := Result{Check: c.Name, Outcome: Passed, Rule: c.Rule, Source: c.Source, Seconds: time.Since(started).Seconds()}
	r.explain(err)
	return r
}

// mismatch is a rule that was seen to be broken.
type mismatch struct{ want, saw string }

func (m *mismatch) Error() string { return fmt.Sprintf("want %s; saw %s", m.want, m.saw) }

// wanted makes a mismatch; saw is a format.
func wanted(want, saw string, args ...any) error {
	return &mismatch{want, fmt.Sprintf(saw, args...)}
}

// inapplicable is why a rule says nothing about a plugin.
type inapplicable string

func (i inapplicable) Error() string { return string(i) }

func (r *Result) explain(err error) {
	var m *mismatch
	var i inapplicable
	switch {
	case err == nil:
		return
	case errors.As(err, &i):
		r.Outcome, r.Why = NotApplicable, string(i)
		return
	case errors.As(err, &m):
		r.Want, r.Saw = m.want, m.saw
	default:
		r.Want, r.Saw = "an answer", err.Error()
	}
	r.Outcome = Failed
	r.Want, r.Saw = oneLine(r.Want), oneLine(r.Saw)
}

const maxText = 600 // bytes of what was seen

func oneLine(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " / ")
	if len(text) > maxText {
		text = text[:maxText] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// subject is a plugin under one check.
type subject struct {
	Options
	ctx    context.Context // until the check's deadline
	check  Check
	kind   sdk.Kind
	start  Open
	asked  *asked
	closes []io.Closer
	dirs   []*runtimedir.Folder
}

// look runs the check's verb.
func (s *subject) look() error {
	verb, ok := verbs[s.check.Verb]
	if !ok {
		return fmt.Errorf("the suite has no verb %q", s.check.Verb)
	}
	look, err := verb(&s.check, s.Short)
	if err != nil {
		return err
	}
	return look(s)
}

// verb reads a check's data and returns what looks at a plugin with it.
type verb func(c *Check, short bool) (func(*subject) error, error)

// take is a verb that is given data of type T.
func take[T any](look func(*subject, T) error) verb {
	return func(c *Check, short bool) (func(*subject) error, error) {
		var with T
		err := c.into(&with, short)
		return func(s *subject) error { return look(s, with) }, err
	}
}

// plain is a verb that needs no data.
func plain(look func(*subject) error) verb {
	return take(func(s *subject, _ struct{}) error { return look(s) })
}

// transporter is a plugin that knows how it is reached: "process", "wasm".
type transporter interface{ Transport() string }

// plugin starts the plugin.
func (s *subject) plugin() (plugin.Plugin, error) {
	p, err := s.start(s.ctx)
	if err != nil {
		return nil, err
	}
	s.closes = append(s.closes, p)
	if want := s.check.Transport; want != "" {
		if t, ok := p.(transporter); !ok || t.Transport() != want {
			return nil, inapplicable("it is not reached as " + want)
		}
	}
	return p, nil
}

// options are those that the plugin is opened with.
func (s *subject) options() []byte { return orEmpty(s.Options.Options) }

func orEmpty(object json.RawMessage) []byte {
	if len(object) == 0 {
		return []byte("{}")
	}
	return object
}

// searcher opens the plugin as a searcher, from a snapshot if that is not empty.
func (s *subject) searcher(p sdk.Problem, snapshot []byte) (plugin.Searcher, error) {
	started, err := s.plugin()
	if err != nil {
		return nil, err
	}
	searcher, err := started.OpenSearcher(s.ctx, p, s.options(), snapshot)
	return searcher, refusal(err, snapshot)
}

// scheduler opens the plugin as a scheduler, likewise.
func (s *subject) scheduler(p sdk.Problem, snapshot []byte) (plugin.Scheduler, error) {
	started, err := s.plugin()
	if err != nil {
		return nil, err
	}
	scheduler, err := started.OpenScheduler(s.ctx, p, s.options(), snapshot)
	return scheduler, refusal(err, snapshot)
}

// refusal: a plugin may refuse a problem that is not for it, but not its own
// snapshot. That it takes a plain one has a check of its own.
func refusal(err error, snapshot []byte) error {
	if len(snapshot) == 0 && plugin.FailureOf(err) == plugin.Refused {
		return inapplicable("it refuses the problem: " + oneLine(err.Error()))
	}
	return err
}

// dir makes a directory that lasts as long as the check.
func (s *subject) dir() (string, error) {
	dir, err := runtimedir.MakeLarge()
	if err != nil {
		return "", err
	}
	s.dirs = append(s.dirs, dir)
	return dir.Path(), nil
}

// close ends all that the check has opened.
func (s *subject) close() {
	var gone sync.WaitGroup
	for _, c := range s.closes {
		gone.Go(func() { _ = c.Close() }) // how it ends has checks of its own
	}
	gone.Wait()
	for _, d := range s.dirs {
		_ = d.Remove()
	}
}
