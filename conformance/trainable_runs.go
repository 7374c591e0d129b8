package conformance

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// restoresGarbage checks that a checkpoint that cannot be loaded fails the trial, with the right
// reason.
func restoresGarbage(s *subject) error {
	c, err := s.openTrainable(saving)
	if err != nil {
		return err
	}
	t, err := c.trial()
	if err != nil {
		return err
	}
	t.Restore, t.Iteration, t.Attempt = filepath.Join(t.Dir, "no-such-checkpoint"), 3, 2
	run, err := c.begin(t)
	if err != nil {
		return err
	}
	e, err := c.want(train.Ended, run)
	switch {
	case err != nil:
		return err
	case e.Error == "" || !e.RestoreFailed:
		return wanted("ENDED with an error and restore_failed", "the error %q, restore_failed %v", e.Error,
			e.RestoreFailed)
	}
	return readable(e.Error)
}

// reuses checks that a reusable process trains one trial after another, each like the first.
func reuses(s *subject, w training) error {
	c, run, err := s.fresh(nil, reused)
	if err != nil {
		return err
	}
	var first []train.Event
	for n := range w.Runs {
		t, err := c.readRun(run, w.Results)
		if err != nil {
			return err
		}
		if n == 0 {
			first = t.results
		} else if !alike(first, t.results) && s.deterministic(w.Results) {
			return wanted(fmt.Sprintf("the same results in run %d of one process as in the first, %s", n+1,
				brief(first)), "%s", brief(t.results))
		}
		if n == w.Runs-1 {
			break
		}
		trial, err := c.trial()
		if err != nil {
			return err
		}
		if run, err = c.begin(trial); err != nil {
			return err
		}
	}
	return nil
}

// deterministic reports whether two processes report the same for a trial.
func (s *subject) deterministic(n int) bool {
	var both [2]story
	for i := range both {
		c, run, err := s.fresh(nil)
		if err != nil {
			return false
		}
		if both[i], err = c.readRun(run, n); err != nil {
			return false
		}
	}
	return alike(both[0].results, both[1].results)
}

// readRun reads at most n results of a run, and its end.
func (c *trainableHost) readRun(run uint64, n int) (story, error) {
	t, err := c.watch(run, n)
	switch {
	case err != nil || t.ended && t.end.Error == "":
		return t, err
	case t.ended:
		return t, t.tooFewResults(n)
	case t.results[len(t.results)-1].Done:
		_, err = c.want(train.Ended, run)
		return t, err
	}
	return t, c.stop(run, "")
}

// secondStart checks that a process that is not reusable refuses another trial.
func secondStart(s *subject) error {
	c, run, err := s.fresh(nil, single)
	if err != nil {
		return err
	}
	if _, err := c.readRun(run, 1); err != nil {
		return err
	}
	return c.refusesStart()
}

// refusesStart checks that another START is answered with ENDED and never_started.
func (c *trainableHost) refusesStart() error {
	t, err := c.trial()
	if err != nil {
		return err
	}
	c.nextRun++
	if err := c.send(train.Command{Kind: train.Start, Run: c.nextRun, Trial: t}); err != nil {
		return err
	}
	e, err := c.want(train.Ended, c.nextRun)
	switch {
	case err != nil:
		return err
	case !e.NeverStarted || e.Error == "":
		return wanted("ENDED with never_started and an error", "never_started %v, the error %q", e.NeverStarted,
			e.Error)
	}
	return readable(e.Error)
}

// secondRun checks that a process that is not shared refuses a second parallel trial.
func secondRun(s *subject) error {
	c, run, err := s.fresh(nil, alone)
	if err != nil {
		return err
	}
	if t, err := c.watch(run, 1); err != nil {
		return err
	} else if t.ended || t.results[0].Done {
		return t.tooFewResults(2)
	}
	if err := c.refusesStart(); err != nil {
		return err
	}
	return c.stop(run, "")
}

// shares checks that a shared process runs parallel trials independently.
func shares(s *subject, w training) error {
	c, err := s.openTrainable(shared)
	if err != nil {
		return err
	}
	for range w.Runs {
		t, err := c.trial()
		if err != nil {
			return err
		}
		c.nextRun++
		if err := c.send(train.Command{Kind: train.Start, Run: c.nextRun, Trial: t}); err != nil {
			return err
		}
	}
	stories, err := c.attend(w.Runs, w.Results)
	if err != nil {
		return err
	}
	for run := range stories {
		if first := stories[1]; !alike(first.results, stories[run].results) && s.deterministic(w.Results) {
			return wanted("the same results of each of the runs", "%s in run 1, %s in run %d", brief(first.results),
				brief(stories[run].results), run)
		}
	}
	return nil
}

// attend answers many runs until each has n results and its end.
func (c *trainableHost) attend(runs, n int) (map[uint64]*story, error) {
	stories := map[uint64]*story{}
	for run := range uint64(runs) {
		stories[run+1] = &story{}
	}
	for over := 0; over < runs; {
		e, err := c.next()
		if err != nil {
			return nil, err
		}
		t := stories[e.Run]
		if t == nil || t.ended {
			return nil, wanted("events of the runs that were started, until they end", "%s of run %d", name(e.Kind),
				e.Run)
		}
		switch e.Kind {
		case train.Result:
			if len(t.results) < n {
				t.results = append(t.results, e)
			}
			err = c.send(answer(e, len(t.results) == n))
		case train.Ended:
			t.ended, t.end, over = true, e, over+1
			if e.Error != "" {
				return nil, t.tooFewResults(n)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return stories, nil
}

func answer(e train.Event, enough bool) train.Command {
	if enough {
		return train.Command{Kind: train.Stop, Run: e.Run}
	}
	return train.Command{Kind: train.Continue, Run: e.Run, Credits: 1}
}

// strangeParams checks that unexpected parameters are accepted, or fail the trial in one line; the
// process keeps working.
func strangeParams(s *subject, w training) error {
	c, err := s.openTrainable()
	if err != nil {
		return err
	}
	more := map[string]any{}
	for name, value := range w.Params {
		more[name] = strings.Repeat(value, max(1, w.Times))
	}
	t, err := c.trial()
	if err != nil {
		return err
	}
	if t.Params, err = c.params(more); err != nil {
		return err
	}
	run, err := c.begin(t)
	if err != nil {
		return err
	}
	if err := c.endsReadably(run); err != nil || !c.traits.Reusable {
		return err
	}
	if t, err = c.trial(); err != nil {
		return err
	}
	if run, err = c.begin(t); err != nil {
		return err
	}
	return c.endsReadably(run)
}

// endsReadably reads the end of a run, stopping it after a result.
func (c *trainableHost) endsReadably(run uint64) error {
	t, err := c.watch(run, 1)
	switch {
	case err != nil:
		return err
	case t.ended && t.end.Error != "":
		return readable(t.end.Error)
	case t.ended:
		return nil
	case t.results[0].Done:
		_, err := c.want(train.Ended, run)
		return err
	}
	return c.stop(run, "")
}

// requests checks that the resource request depends only on the parameters.
func requests(s *subject, _ training) error {
	c, err := s.openTrainable(requesting)
	if err != nil {
		return err
	}
	first, err := c.trainer.Request(s.ctx, orEmpty(s.Params))
	if err != nil {
		return err
	}
	if err := amounts(first); err != nil {
		return wanted(`resources as {"cpu": 2, "gpu": "0.5"}`, "%s: %v", first, err)
	}
	t, err := c.trial()
	if err != nil {
		return err
	}
	if _, err := c.begin(t); err != nil {
		return err
	}
	again, err := c.trainer.Request(s.ctx, orEmpty(s.Params))
	if err == nil && string(again) != string(first) {
		return wanted(fmt.Sprintf("%s for the same parameters, also while a trial trains", first), "%s", again)
	}
	return err
}

// closesTrainer checks that closing ends all runs.
func closesTrainer(s *subject, w training) error {
	c, run, err := s.fresh(func(t *sdk.Trial) { t.RunAhead = math.MaxInt16 })
	if err != nil {
		return err
	}
	if _, err := c.watch(run, 1); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- c.trainer.Close() }()
	if err := c.closed(); err != nil {
		return wanted("the end of the stream after it was closed", "%v", err)
	}
	select {
	case err := <-done:
		return err
	case <-s.ctx.Done():
		return wanted("an end after the stream was closed", "none within the check's deadline")
	}
}

// trainableFuture checks that unknown fields change nothing.
func trainableFuture(s *subject, w training) error {
	p, err := s.future()
	if err != nil {
		return err
	}
	c, err := s.openTrainableOf(p)
	if err != nil {
		return err
	}
	t, err := c.trial()
	if err != nil {
		return err
	}
	run, err := c.begin(t)
	if err != nil {
		return err
	}
	_, err = c.readRun(run, w.Results)
	return err
}
