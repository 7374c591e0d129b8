package conformance

import (
	"fmt"

	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// crowds runs many trials of one result each in one process, started as others end.
func crowds(s *subject, w training) error {
	c, err := s.openTrainable(several)
	if err != nil {
		return err
	}
	here := &runGroup{trainableHost: c, left: w.Runs, seen: map[uint64]train.EventKind{}}
	if c.traits.Shared {
		return here.train(w.AtATime)
	}
	return here.train(1)
}

// A runGroup has the trials in a process.
type runGroup struct {
	*trainableHost
	left int                        // not started yet
	seen map[uint64]train.EventKind // the last event of each running trial
}

func (c *runGroup) train(atATime int) error {
	for range min(atATime, c.left) {
		if err := c.begin(); err != nil {
			return err
		}
	}
	for len(c.seen) > 0 {
		e, err := c.next()
		if err != nil {
			return fmt.Errorf("%d runs have not ended: %w", len(c.seen), err)
		}
		if err := c.handle(e); err != nil {
			return err
		}
	}
	return nil
}

// begin starts one more run.
func (c *runGroup) begin() error {
	t, err := c.trial()
	if err != nil {
		return err
	}
	c.left--
	c.nextRun++
	c.seen[c.nextRun] = train.Log
	return c.send(train.Command{Kind: train.Start, Run: c.nextRun, Trial: t})
}

// handle stops a run at its first result, and starts another when one has ended.
func (c *runGroup) handle(e train.Event) error {
	last, here := c.seen[e.Run]
	if !here || (last == train.Log) != (e.Kind == train.Started) {
		return wanted("STARTED of each run, its results, and ENDED", "%s of run %d%s", name(e.Kind), e.Run, ending(e))
	}
	c.seen[e.Run] = e.Kind
	switch {
	case e.Kind == train.Result && last == train.Started:
		return c.send(train.Command{Kind: train.Stop, Run: e.Run})
	case e.Kind != train.Ended:
		return nil
	case e.Error != "":
		return (&story{ended: true, end: e}).tooFewResults(1)
	}
	delete(c.seen, e.Run)
	if c.left == 0 {
		return nil
	}
	return c.begin()
}
