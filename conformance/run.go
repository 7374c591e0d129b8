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
	"github.com/tunehost/tunehost/host/storage/runtimedir"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Open starts a new instance of the plugin. The suite closes it.
type Open func(ctx context.Context) (plugin.Plugin, error)

// Options are what a run of the suite may need to know about a plugin.
type Options struct {
	// Options is a JSON object with the plugin's options; empty: {}.
	Options json.RawMessage
	// Params is a JSON object of parameters for a trainable; empty: {}. Choose them so that a trial
	// reports at least four results, quickly.
	Params json.RawMessage
	// Only selects the checks to run, see [Select]; "": all.
	Only string
	// Short makes experiments small, for plugins that start slowly.
	Short bool
	// Quick runs only the few checks that show whether a plugin works at all, small and in
	// parallel: `tunehost plugins check`.
	Quick bool
	// Deadline, if set, is the maximum duration of a check; it shortens the suite's own deadlines,
	// for plugins that answer at once.
	Deadline time.Duration
	// Patience, if set, multiplies the suite's own deadlines, for executors whose engine decides when leases are
	// granted, on machines that are busy.
	Patience int
}

// Outcome is the outcome of a check.
type Outcome string

// The outcomes.
const (
	Passed Outcome = "passed"
	Failed Outcome = "failed"
	// NotApplicable: the rule is about a feature that the plugin does not offer or did not use.
	NotApplicable Outcome = "not applicable"
	// Late: the plugin was not ready in time, so that the rule could not be checked.
	Late Outcome = "late"
)

// A Result is the result of one check. Its JSON is stable.
type Result struct {
	Check   string   `json:"check"`
	Outcome Outcome  `json:"outcome"`
	Rule    string   `json:"rule"`
	Source  []string `json:"source"`
	// Want and Saw describe the violation of a failed check, and Why the reason why a check is not
	// applicable or late; one line each.
	Want    string  `json:"want,omitempty"`
	Saw     string  `json:"saw,omitempty"`
	Why     string  `json:"why,omitempty"`
	Seconds float64 `json:"seconds"`
	// Refused says that the check is not applicable because the plugin refuses its problem or its options.
	Refused bool `json:"-"`
}

// Run runs the checks for a kind of plugin one by one, and calls each with every result. The error
// is not about the plugin: the pattern names no check, or the kind has no suite.
func Run(ctx context.Context, kind sdk.Kind, open Open, o Options, each func(Result)) error {
	checks, err := Select(Checks(kind), o.Only)
	if err != nil {
		return err
	}
	if len(checks) == 0 {
		return fmt.Errorf("no check of %s is named %q", kind.WithArticle(), o.Only)
	}
	known := &declared{}
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

// together runs checks in parallel, and calls each with their results in order.
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
func run(ctx context.Context, c Check, kind sdk.Kind, open Open, o Options, known *declared) Result {
	started := time.Now()
	limit := c.deadline() * time.Duration(max(1, o.Patience))
	if o.Deadline > 0 {
		limit = min(limit, o.Deadline)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s := &subject{ctx: ctx, check: c, kind: kind, start: open, declared: known, Options: o}
	err := s.look()
	s.close()
	r := Result{Check: c.Name, Outcome: Passed, Rule: c.Rule, Source: c.Source, Seconds: time.Since(started).Seconds()}
	r.explain(err)
	return r
}

// A mismatch is an observed violation of a rule.
type mismatch struct{ want, saw string }

func (m *mismatch) Error() string { return fmt.Sprintf("want %s; saw %s", m.want, m.saw) }

// wanted makes a mismatch; saw is a format.
func wanted(want, saw string, args ...any) error {
	return &mismatch{want, fmt.Sprintf(saw, args...)}
}

// refusesProblem begins the reason of a plugin that refuses the problem of a check.
const refusesProblem = "it refuses the problem: "

// inapplicable is the reason why a rule does not apply to a plugin.
type inapplicable string

func (i inapplicable) Error() string { return string(i) }

func (r *Result) explain(err error) {
	var m *mismatch
	var i inapplicable
	switch {
	case err == nil:
		return
	case errors.As(err, &i):
		r.Outcome, r.Why, r.Refused = NotApplicable, string(i), strings.HasPrefix(string(i), refusesProblem)
		return
	case errors.Is(err, plugin.ErrLate):
		r.Outcome, r.Why = Late, oneLine(err.Error())
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

// A subject is a plugin under one check.
type subject struct {
	Options
	ctx      context.Context // until the check's deadline
	check    Check
	kind     sdk.Kind
	start    Open
	declared *declared
	closes   []io.Closer
	dirs     []*runtimedir.Folder
	agents   *agents // nil: none yet
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

// A verb decodes a check's data and returns the function that checks a plugin with it.
type verb func(c *Check, short bool) (func(*subject) error, error)

// take returns a verb with data of type T.
func take[T any](look func(*subject, T) error) verb {
	return func(c *Check, short bool) (func(*subject) error, error) {
		var with T
		err := c.into(&with, short)
		return func(s *subject) error { return look(s, with) }, err
	}
}

// plain returns a verb without data.
func plain(look func(*subject) error) verb {
	return take(func(s *subject, _ struct{}) error { return look(s) })
}

// A transporter is a plugin that knows its transport: "process", "wasm".
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

// options returns the options for the plugin.
func (s *subject) options() []byte { return orEmpty(s.Options.Options) }

func orEmpty(object json.RawMessage) []byte {
	if len(object) == 0 {
		return []byte("{}")
	}
	return object
}

// searcher opens the plugin as a searcher, from a snapshot if it is not empty.
func (s *subject) searcher(p sdk.Problem, snapshot []byte) (plugin.Searcher, error) {
	started, err := s.plugin()
	if err != nil {
		return nil, err
	}
	searcher, err := started.OpenSearcher(s.ctx, p, s.options(), snapshot)
	return searcher, refusal(err, snapshot)
}

// scheduler opens the plugin as a scheduler, from a snapshot if it is not empty.
func (s *subject) scheduler(p sdk.Problem, snapshot []byte) (plugin.Scheduler, error) {
	started, err := s.plugin()
	if err != nil {
		return nil, err
	}
	scheduler, err := started.OpenScheduler(s.ctx, p, s.options(), snapshot)
	return scheduler, refusal(err, snapshot)
}

// refusal: a plugin may refuse an unsupported problem, but not its own snapshot. Another check
// verifies that it accepts a simple problem.
func refusal(err error, snapshot []byte) error {
	if len(snapshot) == 0 && plugin.FailureOf(err) == plugin.Refused {
		return inapplicable(refusesProblem + oneLine(err.Error()))
	}
	return err
}

// dir creates a directory that exists as long as the check runs.
func (s *subject) dir() (string, error) {
	dir, err := runtimedir.MakeLarge()
	if err != nil {
		return "", err
	}
	s.dirs = append(s.dirs, dir)
	return dir.Path(), nil
}

// close closes everything that the check has opened.
func (s *subject) close() {
	var gone sync.WaitGroup
	for _, c := range s.closes {
		gone.Go(func() { _ = c.Close() }) // other checks verify how it ends
	}
	gone.Wait()
	for _, d := range s.dirs {
		_ = d.Remove()
	}
}
