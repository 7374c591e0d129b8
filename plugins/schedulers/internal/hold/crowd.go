package hold

import "github.com/tunehost/tunehost/plugins/sdk"

// Crowd is the trials of a scheduler that holds some until what others report wakes
// them. It knows when nothing can wake them any more: those are stopped.
type Crowd struct {
	planned     int // trials; 0: unknown
	added       int
	active      int // neither held nor ended
	searchEnded bool
	held        []uint32 // trials in the order of their pauses; some are held no more
}

// NewCrowd expects so many trials; 0: nobody knows how many.
func NewCrowd(planned int) Crowd { return Crowd{planned: planned} }

// Add notes a trial that is new.
func (c *Crowd) Add() {
	c.added++
	c.active++
}

// EndSearch notes that no further trial will be added.
func (c *Crowd) EndSearch() { c.searchEnded = true }

// Pause notes that a trial was given the verdict Pause.
func (c *Crowd) Pause(number uint32, t *Trial) {
	t.Pause()
	c.hold(number)
}

func (c *Crowd) hold(number uint32) {
	c.active--
	c.held = append(c.held, number)
}

// Wake has a trial go on, now or once it is paused.
func (c *Crowd) Wake(number uint32, t *Trial, reason string, out *sdk.Decisions) {
	if t.Held() {
		c.active++
	}
	t.Order(sdk.Command{Kind: sdk.Resume, Trial: number, Reason: reason}, out)
}

// End notes that a trial ended or was told to stop.
func (c *Crowd) End(t *Trial) {
	if _, doomed := t.Doomed(); !doomed && !t.Ended() && !t.Held() {
		c.active--
	}
	t.End()
}

// Observe follows events that are neither results nor a trial's end.
func (c *Crowd) Observe(e *sdk.Event, t *Trial, out *sdk.Decisions) {
	held := t.Held()
	if t.Observe(e, out) {
		c.active++
	}
	if e.Kind == sdk.TrialPaused && !held && t.Held() { // late
		c.hold(e.Trial)
	}
}

// Release stops the trials that are held when nothing can wake them any more: no
// trial is left that could report, and none will be added. find has a trial, reason
// says why it is stopped.
func (c *Crowd) Release(find func(uint32) *Trial, reason func(uint32) string, out *sdk.Decisions) {
	gathered := c.searchEnded || c.planned > 0 && c.added >= c.planned
	if c.active > 0 || len(c.held) == 0 || !gathered {
		return
	}
	for _, number := range c.held {
		if t := find(number); t.Held() {
			t.Order(sdk.Command{Kind: sdk.StopTrial, Trial: number, Reason: reason(number)}, out)
		}
	}
	c.held = nil
}
