package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"os"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// A trainableHost simulates the host for a trainable.
type trainableHost struct {
	*subject
	trainer plugin.Trainer
	traits  sdk.TrainableTraits
	heard   chan received
	left    chan struct{} // closed when nobody reads any more
	waiting []train.Event
	nextRun uint64
}

// received is an event with its time.
type received struct {
	events []train.Event
	err    error
}

// A trait is what a check needs of a trainable.
type trait = need[sdk.TrainableTraits]

var (
	saving = trait{func(t sdk.TrainableTraits) bool { return t.Saves }, "it makes no checkpoints"}
	reused = trait{func(t sdk.TrainableTraits) bool { return t.Reusable }, "its process is not reused"}
	shared = trait{func(t sdk.TrainableTraits) bool { return t.Shared }, "its process is not shared"}
	alone  = trait{func(t sdk.TrainableTraits) bool { return !t.Shared }, "its process is shared"}
	single = trait{func(t sdk.TrainableTraits) bool { return !t.Reusable && !t.Shared },
		"its process takes more than one trial"}
	several = trait{func(t sdk.TrainableTraits) bool { return t.Reusable || t.Shared },
		"its process takes one trial"}
	requesting = trait{func(t sdk.TrainableTraits) bool { return t.Requests },
		"it does not compute resource requests"}
)

// openTrainable opens the trainable, if it has the traits as far as they are known.
func (s *subject) openTrainable(needs ...trait) (*trainableHost, error) {
	if err := needed(s, s.opening(), needs); err != nil {
		return nil, err
	}
	p, err := s.plugin()
	if err != nil {
		return nil, err
	}
	return s.openTrainableOf(p, needs...)
}

func (s *subject) openTrainableOf(p plugin.Plugin, needs ...trait) (*trainableHost, error) {
	trainer, err := p.OpenTrainable(s.ctx, s.options())
	if err != nil {
		return nil, err
	}
	c := &trainableHost{subject: s, trainer: trainer, traits: trainer.Traits(), heard: make(chan received),
		left: make(chan struct{})}
	s.closes = append(s.closes, c)
	go c.listen()
	return c, declares(s, s.opening(), c.traits, needs)
}

// Close stops the reader; the plugin is closed separately.
func (c *trainableHost) Close() error {
	close(c.left)
	return nil
}

// listen passes on events until the trainer is closed.
func (c *trainableHost) listen() {
	for {
		events, err := c.trainer.Recv()
		select {
		case c.heard <- received{slices.Clone(events), err}:
		case <-c.left:
			return
		}
		if err != nil {
			return
		}
	}
}

// errLate is returned by next after the deadline.
var errLate = errors.New("nothing came before the check's deadline")

// next returns the next event that is not a log.
func (c *trainableHost) next() (train.Event, error) {
	for {
		for len(c.waiting) > 0 {
			e := c.waiting[0]
			c.waiting = c.waiting[1:]
			if e.Kind != train.Log && e.Kind != train.Rejected {
				return e, nil
			}
		}
		select {
		case h := <-c.heard:
			if h.err != nil {
				return train.Event{}, h.err
			}
			c.waiting = h.events
		case <-c.ctx.Done():
			return train.Event{}, errLate
		}
	}
}

// expectSilence waits for events that must not come; it returns nil if none did.
func (c *trainableHost) expectSilence(d time.Duration) (*train.Event, error) {
	after := time.NewTimer(d)
	defer after.Stop()
	for {
		for i, e := range c.waiting {
			if e.Kind != train.Log && e.Kind != train.Rejected {
				return &c.waiting[i], nil
			}
		}
		c.waiting = nil
		select {
		case h := <-c.heard:
			if h.err != nil {
				return nil, h.err
			}
			c.waiting = h.events
		case <-after.C:
			return nil, nil
		case <-c.ctx.Done():
			return nil, errLate
		}
	}
}

func (c *trainableHost) send(commands ...train.Command) error { return c.trainer.Send(commands) }

// names are the names of the events.
var names = map[train.EventKind]string{
	train.Started: "STARTED", train.Result: "RESULT", train.Saved: "SAVED", train.Ended: "ENDED",
}

func name(k train.EventKind) string {
	if n := names[k]; n != "" {
		return n
	}
	return fmt.Sprintf("an event of the kind %d", k)
}

// want reads the next event, which must have the kind and run.
func (c *trainableHost) want(kind train.EventKind, run uint64) (train.Event, error) {
	e, err := c.next()
	if err != nil {
		return e, fmt.Errorf("waiting for %s of run %d: %w", name(kind), run, err)
	}
	if e.Kind != kind || e.Run != run {
		return e, wanted(fmt.Sprintf("%s of run %d", name(kind), run), "%s of run %d%s", name(e.Kind), e.Run, ending(e))
	}
	return e, nil
}

func ending(e train.Event) string {
	if e.Error == "" {
		return ""
	}
	return ", with the error " + e.Error
}

// trial returns a trial that can be started, with its own directory.
func (c *trainableHost) trial() (*sdk.Trial, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	return &sdk.Trial{
		ID: "00000", Attempt: 1, Experiment: "conformance", Params: orEmpty(c.Params), Options: c.options(),
		Seed: 1, Dir: dir, Resources: []byte(`{"cpu":"1"}`), GraceSeconds: 5,
	}, nil
}

// begin starts a run and waits until it has started.
func (c *trainableHost) begin(t *sdk.Trial) (run uint64, err error) {
	run = c.nextRun + 1
	c.nextRun = run
	if err := c.send(train.Command{Kind: train.Start, Run: run, Trial: t}); err != nil {
		return run, err
	}
	e, err := c.want(train.Started, run)
	if err == nil && e.PID == 0 {
		return run, wanted("the id of the process that trains", "0")
	}
	return run, err
}

// fresh opens the trainable, if it has the traits, and begins a trial, modified by change.
func (s *subject) fresh(change func(*sdk.Trial), needs ...trait) (c *trainableHost, run uint64, err error) {
	if c, err = s.openTrainable(needs...); err != nil {
		return nil, 0, err
	}
	t, err := c.trial()
	if err != nil {
		return nil, 0, err
	}
	if change != nil {
		change(t)
	}
	run, err = c.begin(t)
	return c, run, err
}

// A story is what a run reported.
type story struct {
	results []train.Event
	ended   bool
	end     train.Event
}

// result reads the run's next result; it returns false if the run has ended instead.
func (c *trainableHost) result(run uint64, t *story) (bool, error) {
	e, err := c.next()
	switch {
	case err != nil:
		return false, err
	case e.Run != run:
		return false, wanted(fmt.Sprintf("events of run %d", run), "%s of run %d", name(e.Kind), e.Run)
	case e.Kind == train.Ended:
		t.ended, t.end = true, e
		return false, nil
	case e.Kind != train.Result:
		return false, wanted("RESULT or ENDED", "%s", name(e.Kind))
	}
	t.results = append(t.results, e)
	return true, sound(e)
}

// sound checks that a result has metrics with unique names.
func sound(e train.Event) error {
	if len(e.Metrics) == 0 {
		return wanted("a result with metrics", "none")
	}
	seen := map[string]bool{}
	for _, m := range e.Metrics {
		if m.Name == "" || seen[m.Name] {
			return wanted("metrics with names, each once", "%q in %v", m.Name, e.Metrics)
		}
		seen[m.Name] = true
	}
	return nil
}

// watch answers a run's results until there are n, or it has ended. The last of n is not answered.
func (c *trainableHost) watch(run uint64, n int) (t story, err error) {
	for {
		ok, err := c.result(run, &t)
		if err != nil || !ok || len(t.results) == n {
			return t, err
		}
		if err := c.send(train.Command{Kind: train.Continue, Run: run, Credits: 1}); err != nil {
			return t, err
		}
	}
}

// tooFewResults reports that a trial ended too early for the check.
func (t *story) tooFewResults(n int) error {
	if t.ended && t.end.Error != "" {
		return wanted("a trial that trains (with --params, if it needs parameters)", "it failed: %s", t.end.Error)
	}
	return inapplicable(fmt.Sprintf("the trial reported %d results, and the check needs %d: give it parameters "+
		"(--params) with which it reports more", len(t.results), n))
}

// stop ends a run after its results, and reads its end.
func (c *trainableHost) stop(run uint64, dir string) error {
	if err := c.send(train.Command{Kind: train.Stop, Run: run, Dir: dir}); err != nil {
		return err
	}
	if dir != "" {
		if _, err := c.saved(run, dir); err != nil {
			return err
		}
	}
	e, err := c.want(train.Ended, run)
	if err == nil && e.Error != "" {
		return wanted("ENDED without an error after STOP", "%s", e.Error)
	}
	return err
}

// saved reads the answer to a save to dir, which must exist.
func (c *trainableHost) saved(run uint64, dir string) (train.Event, error) {
	e, err := c.want(train.Saved, run)
	if err != nil {
		return e, err
	}
	switch {
	case e.Error != "":
		return e, wanted("a checkpoint", "%s", e.Error)
	case e.Checkpoint != dir:
		return e, wanted(fmt.Sprintf("SAVED with the directory %q that SAVE named", filepath.Base(dir)), "%q",
			e.Checkpoint)
	}
	files, err := os.ReadDir(dir)
	if err == nil && len(files) == 0 {
		return e, wanted("something in the directory once SAVED is there", "nothing")
	}
	return e, err
}

// save orders a checkpoint of the result that waits for an answer.
func (c *trainableHost) save(run, iteration uint64) (dir string, err error) {
	if dir, err = c.dir(); err != nil {
		return "", err
	}
	if err := c.send(train.Command{Kind: train.Save, Run: run, Dir: dir}); err != nil {
		return "", err
	}
	e, err := c.saved(run, dir)
	if err == nil && e.Iteration != iteration {
		return dir, wanted(fmt.Sprintf("SAVED with iteration %d, which was reported last", iteration), "iteration %d",
			e.Iteration)
	}
	return dir, err
}

// iterations numbers results like a host: 0 is one more than the last.
func iterations(results []train.Event, from uint64) []uint64 {
	out := make([]uint64, len(results))
	for i, r := range results {
		from++
		if r.Iteration != 0 {
			from = r.Iteration
		}
		out[i] = from
	}
	return out
}

// readable checks that an error is one line that is not empty.
func readable(text string) error {
	if strings.TrimSpace(text) == "" || strings.ContainsAny(text, "\n\r") {
		return wanted("an error of one line", "%q", text)
	}
	return nil
}

// alike compares the metrics of results; NaN equals NaN.
func alike(a, b []train.Event) bool {
	text := func(events []train.Event) string {
		var all []string
		for _, e := range events {
			all = append(all, fmt.Sprint(e.Metrics))
		}
		return strings.Join(all, "\n")
	}
	return text(a) == text(b)
}

// params adds more parameters to those of the trial.
func (c *trainableHost) params(more map[string]any) ([]byte, error) {
	all := map[string]any{}
	if err := json.Unmarshal(orEmpty(c.Params), &all); err != nil {
		return nil, err
	}
	maps.Copy(all, more)
	return json.Marshal(all)
}

// closed waits until the trainer reports that it is closed.
func (c *trainableHost) closed() error {
	for {
		select {
		case h := <-c.heard:
			if errors.Is(h.err, io.EOF) {
				return nil
			}
			if h.err != nil {
				return h.err
			}
		case <-c.ctx.Done():
			return errLate
		}
	}
}
