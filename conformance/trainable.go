package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

var trainableVerbs = map[string]verb{
	"train":            take(trains),
	"iterations":       take(countsIterations),
	"credits":          take(keepsCredits),
	"save":             take(saves),
	"checkpoint-every": take(checkpointsEvery),
	"save-at-end":      take(savesAtEnd),
	"stop":             take(stops),
	"stop-saving":      take(stopsSaving),
	"stop-at-once":     plain(stopsAtOnce),
	"stop-twice":       take(stopsTwice),
	"kill":             take(kills),
	"restore":          take(restores),
	"restore-count":    take(restoresCount),
	"restore-garbage":  plain(restoresGarbage),
	"reuse":            take(reuses),
	"second-start":     plain(secondStart),
	"share":            take(shares),
	"crowd":            take(crowds),
	"second-run":       plain(secondRun),
	"strange-params":   take(strangeParams),
	"requests":         take(requests),
	"close-trainer":    take(closesTrainer),
	"trainable-future": take(trainableFuture),
}

// training is the data of checks of trainables.
type training struct {
	// Results is the number of results to examine.
	Results int `json:"results"`
	// RunAhead is run_ahead of the trial.
	RunAhead int `json:"run_ahead"`
	// Every is checkpoint_every of the trial.
	Every uint64 `json:"every"`
	// QuietMS is how long the check waits for events that must not come: a broken trainable that is
	// slower is missed, a correct one never fails.
	QuietMS int `json:"quiet_ms"`
	// Runs is the number of runs, sequential or parallel.
	Runs int `json:"runs"`
	// AtATime is the number of parallel runs.
	AtATime int `json:"at_a_time"`
	// Params are added to the trial's parameters: names and values, each value repeated that many
	// times.
	Params map[string]string `json:"params"`
	Times  int               `json:"times"`
}

func (w *training) quiet() time.Duration { return time.Duration(w.QuietMS) * time.Millisecond }

// trains checks that a trial starts, reports and ends.
func trains(s *subject, w training) error {
	c, run, err := s.fresh(nil)
	if err != nil {
		return err
	}
	t, err := c.watch(run, w.Results)
	switch {
	case err != nil:
		return err
	case t.ended && t.end.Error != "":
		return t.tooFewResults(1)
	case t.ended && len(t.results) == 0:
		return wanted("results", "the trial ended without one")
	case t.ended:
		return nil
	}
	return c.stop(run, "")
}

// countsIterations checks that a trial's iterations increase.
func countsIterations(s *subject, w training) error {
	c, run, err := s.fresh(nil)
	if err != nil {
		return err
	}
	t, err := c.watch(run, w.Results)
	if err != nil {
		return err
	}
	if len(t.results) < 2 {
		return t.tooFewResults(2)
	}
	if got := iterations(t.results, 0); !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) < len(got) {
		return wanted("iterations that rise", "%v", got)
	}
	return nil
}

// keepsCredits checks that a trial continues when it may, and not before.
func keepsCredits(s *subject, w training) error {
	c, run, err := s.fresh(func(t *sdk.Trial) { t.RunAhead = w.RunAhead })
	if err != nil {
		return err
	}
	var t story
	for granted := 0; len(t.results) < w.Results; granted++ {
		for len(t.results) < granted+w.RunAhead+1 {
			if ok, err := c.result(run, &t); err != nil {
				return err
			} else if !ok {
				return c.checkEnough(&t, w.RunAhead+2)
			}
		}
		if t.results[len(t.results)-1].Done {
			break
		}
		e, err := c.expectSilence(w.quiet())
		if err != nil {
			return err
		}
		if e != nil && e.Kind != train.Ended {
			return wanted(fmt.Sprintf("silence after %d results, %d credits and a run_ahead of %d", len(t.results),
				granted, w.RunAhead), "%s", name(e.Kind))
		}
		if err := c.send(train.Command{Kind: train.Continue, Run: run, Credits: 1}); err != nil {
			return err
		}
	}
	return c.checkEnough(&t, w.RunAhead+2)
}

// checkEnough checks that there were results to examine.
func (c *trainableHost) checkEnough(t *story, n int) error {
	if len(t.results) < n {
		return t.tooFewResults(n)
	}
	return nil
}

// saver begins a trial of a trainable that saves and reads its first n results.
func (s *subject) saver(n int) (c *trainableHost, run uint64, t story, err error) {
	if c, run, err = s.fresh(nil, saving); err != nil {
		return c, run, t, err
	}
	t, err = c.watch(run, n)
	if err == nil && (t.ended || t.results[len(t.results)-1].Done) {
		err = t.tooFewResults(n + 1)
	}
	return c, run, t, err
}

// saves checks that a checkpoint is of the last result, and the trial continues.
func saves(s *subject, w training) error {
	c, run, t, err := s.saver(w.Results)
	if err != nil {
		return err
	}
	numbers := iterations(t.results, 0)
	if _, err := c.save(run, numbers[len(numbers)-1]); err != nil {
		return err
	}
	return c.stop(run, "")
}

// checkpointsEvery checks that a result to be saved waits, whatever run_ahead is.
func checkpointsEvery(s *subject, w training) error {
	c, run, err := s.fresh(func(t *sdk.Trial) { t.RunAhead, t.CheckpointEvery = w.RunAhead, w.Every }, saving)
	if err != nil {
		return err
	}
	var t story
	for {
		ok, err := c.result(run, &t)
		if err != nil {
			return err
		}
		numbers := iterations(t.results, 0)
		if !ok || t.results[len(t.results)-1].Done {
			return t.tooFewResults(int(w.Every) + 1)
		}
		if n := numbers[len(numbers)-1]; n%w.Every == 0 {
			break
		} else if len(t.results) > w.RunAhead {
			return inapplicable(fmt.Sprintf("no result has an iteration that is a multiple of %d", w.Every))
		}
	}
	if e, err := c.expectSilence(w.quiet()); err != nil || e != nil {
		if err != nil {
			return err
		}
		return wanted(fmt.Sprintf("silence after iteration %d, which must be saved", w.Every), "%s", name(e.Kind))
	}
	_, err = c.save(run, w.Every)
	return err
}

// savesAtEnd checks that the last result waits for its checkpoint.
func savesAtEnd(s *subject, w training) error {
	c, run, err := s.fresh(func(t *sdk.Trial) { t.CheckpointAtEnd = true }, saving)
	if err != nil {
		return err
	}
	t, err := c.untilDone(run, w.Results)
	if err != nil {
		return err
	}
	last := t.results[len(t.results)-1]
	if last.Checkpoint != "" {
		return inapplicable("its last result brings a checkpoint of its own")
	}
	numbers := iterations(t.results, 0)
	if _, err := c.save(run, numbers[len(numbers)-1]); err != nil {
		return err
	}
	_, err = c.want(train.Ended, run)
	return err
}

// untilDone answers results until one is marked as the last.
func (c *trainableHost) untilDone(run uint64, most int) (t story, err error) {
	for len(t.results) < most {
		ok, err := c.result(run, &t)
		switch {
		case err != nil:
			return t, err
		case !ok:
			return t, inapplicable("it does not mark its last result as the last")
		case t.results[len(t.results)-1].Done:
			return t, nil
		}
		if err := c.send(train.Command{Kind: train.Continue, Run: run, Credits: 1}); err != nil {
			return t, err
		}
	}
	return t, inapplicable(fmt.Sprintf("none of its first %d results is its last", most))
}

// midway begins a trial and reads its first n results, none of which may be its end.
func (s *subject) midway(n int) (c *trainableHost, run uint64, err error) {
	if c, run, err = s.fresh(nil); err != nil {
		return c, run, err
	}
	t, err := c.watch(run, n)
	if err == nil && t.ended {
		err = t.tooFewResults(n)
	}
	return c, run, err
}

// stops checks that a trial that is told to stop ends without another result.
func stops(s *subject, w training) error {
	c, run, err := s.midway(w.Results)
	if err != nil {
		return err
	}
	return c.stop(run, "")
}

func stopsSaving(s *subject, w training) error {
	c, run, _, err := s.saver(w.Results)
	if err != nil {
		return err
	}
	dir, err := c.dir()
	if err != nil {
		return err
	}
	return c.stop(run, dir)
}

// stopsAtOnce checks that a trial may be told to stop before its first result.
func stopsAtOnce(s *subject) error {
	c, run, err := s.fresh(nil)
	if err != nil {
		return err
	}
	if err := c.send(train.Command{Kind: train.Stop, Run: run}); err != nil {
		return err
	}
	var t story
	for { // a result may have crossed the command
		if ok, err := c.result(run, &t); err != nil {
			return err
		} else if !ok {
			break
		}
		if len(t.results) > 1 {
			return wanted("at most the result that crossed STOP", "another")
		}
	}
	if t.end.Error != "" {
		return wanted("ENDED without an error after STOP", "%s", t.end.Error)
	}
	return nil
}

// stopsTwice checks that commands for a run that has ended are ignored.
func stopsTwice(s *subject, w training) error {
	if err := stops(s, w); err != nil {
		return err
	}
	c, run, err := s.fresh(nil)
	if err != nil {
		return err
	}
	if _, err := c.watch(run, 1); err != nil {
		return err
	}
	if err := c.stop(run, ""); err != nil {
		return err
	}
	late := []train.Command{{Kind: train.Stop, Run: run}, {Kind: train.Continue, Run: run, Credits: 1},
		{Kind: train.Kill, Run: run}, {Kind: train.Stop, Run: 999}}
	if err := c.send(late...); err != nil {
		return wanted("commands for a run that has ended to be ignored", "%v", err)
	}
	if e, err := c.expectSilence(w.quiet()); err != nil || e != nil {
		return wanted("silence about a run that has ended", "%v, %v", e, err)
	}
	return nil
}

// kills checks that KILL ends a trial whatever it is doing.
func kills(s *subject, w training) error {
	c, run, err := s.midway(w.Results)
	if err != nil {
		return err
	}
	if err := c.send(train.Command{Kind: train.Kill, Run: run}); err != nil {
		return err
	}
	_, err = c.want(train.Ended, run)
	return err
}

// restores checks that a trial that continues from a checkpoint reports the same as without the
// interruption.
func restores(s *subject, w training) error {
	first, err := s.results(2*w.Results, nil)
	if err != nil {
		return err
	}
	again, err := s.results(2*w.Results, nil)
	if err != nil {
		return err
	}
	if !alike(first, again) {
		return inapplicable("two runs of a trial do not report the same")
	}
	rest, err := s.interrupted(w.Results)
	if err != nil {
		return err
	}
	if !alike(first[w.Results:], rest) {
		return wanted(fmt.Sprintf("as without the pause, %s", brief(first[w.Results:])), "%s", brief(rest))
	}
	return nil
}

// brief returns the first metric of each result.
func brief(results []train.Event) string {
	var all []string
	for _, r := range results {
		all = append(all, fmt.Sprintf("%s=%v", r.Metrics[0].Name, r.Metrics[0].Value))
	}
	return strings.Join(all, " ")
}

// results returns the first n results of a trial.
func (s *subject) results(n int, change func(*sdk.Trial)) ([]train.Event, error) {
	c, run, err := s.fresh(change, saving)
	if err != nil {
		return nil, err
	}
	t, err := c.watch(run, n)
	if err != nil {
		return nil, err
	}
	if len(t.results) < n {
		return nil, t.tooFewResults(n)
	}
	if t.ended || t.results[n-1].Done {
		return t.results, nil
	}
	return t.results, c.stop(run, "")
}

// interrupted saves a trial after n results, and returns the next n, reported by another process.
func (s *subject) interrupted(n int) ([]train.Event, error) {
	c, run, t, err := s.saver(n)
	if err != nil {
		return nil, err
	}
	numbers := iterations(t.results, 0)
	at := numbers[n-1]
	dir, err := c.save(run, at)
	if err != nil {
		return nil, err
	}
	if err := c.stop(run, ""); err != nil {
		return nil, err
	}
	return s.results(n, func(t *sdk.Trial) { t.Restore, t.Iteration, t.Attempt = dir, at, 2 })
}

// restoresCount checks that iterations continue from the checkpoint's.
func restoresCount(s *subject, w training) error {
	whole, err := s.results(w.Results+1, nil)
	if err != nil {
		return err
	}
	want := iterations(whole, 0)[w.Results]
	c, run, t, err := s.saver(w.Results)
	if err != nil {
		return err
	}
	at := iterations(t.results, 0)[w.Results-1]
	dir, err := c.save(run, at)
	if err != nil {
		return err
	}
	rest, err := s.results(1, func(t *sdk.Trial) { t.Restore, t.Iteration, t.Attempt = dir, at, 2 })
	if err != nil {
		return err
	}
	if got := iterations(rest, at)[0]; got != want {
		return wanted(fmt.Sprintf("iteration %d after a checkpoint of iteration %d", want, at), "iteration %d", got)
	}
	return nil
}
