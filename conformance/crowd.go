package conformance

import (
	"fmt"

	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// crowds: many trials of one result each, begun as others end, in one process.
func crowds(s *subject, w training) error {
	c, err := s.crew()
	if err != nil {
		return err
	}
	here := &crowd{crew: c, left: w.Runs, seen: map[uint64]train.EventKind{}}
	switch {
	case c.traits.Shared:
		return here.train(w.AtATime)
	case c.traits.Reusable:
		return here.train(1)
	}
	return inapplicable("its process takes one trial")
}

// crowd is the trials that are in a process.
type crowd struct {
	*crew
	left int                        // not begun yet
	seen map[uint64]train.EventKind // what was last seen of those that are here
}

func (c *crowd) train(atATime int) error {
	for range min(atATime, c.left) {
		if err := c.enter(); err != nil {
			return err
		}
	}
	for len(c.seen) > 0 {
		e, err := c.next()
		if err != nil {
			return fmt.Errorf("%d runs have not ended: %w", len(c.seen), err)
		}
		if err := c.hear(e); err != nil {
			return err
		}
	}
	return nil
}

// enter begins one more run.
func (c *crowd) enter() error {
	t, err := c.trial()
	if err != nil {
		return err
	}
	c.left--
	c.nextRun++
	c.seen[c.nextRun] = train.Log
	return c.send(train.Command{Kind: train.Start, Run: c.nextRun, Trial: t})
}

// hear stops a run at its first result, and begins another where one has ended.
func (c *crowd) hear(e train.Event) error {
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
		return (&story{ended: true, end: e}).few(1)
	}
	delete(c.seen, e.Run)
	if c.left == 0 {
		return nil
	}
	return c.enter()
}
