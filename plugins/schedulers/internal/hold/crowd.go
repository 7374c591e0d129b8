package hold

import "github.com/tunehost/tunehost/plugins/sdk"

// A Crowd has the trials of a scheduler that holds some of them until reports of others wake them.
// It stops held trials when nothing can wake them any more.
type Crowd struct {
	planned     int // trials; 0: unknown
	added       int
	active      int // neither held nor ended
	searchEnded bool
	held        []uint32 // trials in the order of their pauses; some are no longer held
}

// NewCrowd expects that many trials; 0: unknown.
func NewCrowd(planned int) Crowd { return Crowd{planned: planned} }

// Add adds a new trial.
func (c *Crowd) Add() {
	c.added++
	c.active++
}

// EndSearch records that no more trials will be added.
func (c *Crowd) EndSearch() { c.searchEnded = true }

// Pause records that a trial was given the verdict Pause.
func (c *Crowd) Pause(number uint32, t *Trial) {
	t.Pause()
	c.hold(number)
}

func (c *Crowd) hold(number uint32) {
	c.active--
	c.held = append(c.held, number)
}

// Wake lets a trial continue, now or when it is paused.
func (c *Crowd) Wake(number uint32, t *Trial, reason string, out *sdk.Decisions) {
	if t.Held() {
		c.active++
	}
	t.Order(sdk.Command{Kind: sdk.Resume, Trial: number, Reason: reason}, out)
}

// End records that a trial ended or was told to stop.
func (c *Crowd) End(t *Trial) {
	if _, doomed := t.StopPending(); !doomed && !t.Ended() && !t.Held() {
		c.active--
	}
	t.End()
}

// Observe processes events that are neither results nor the end of a trial.
func (c *Crowd) Observe(e *sdk.Event, t *Trial, out *sdk.Decisions) {
	held := t.Held()
	if t.Observe(e, out) {
		c.active++
	}
	if e.Kind == sdk.TrialPaused && !held && t.Held() { // late
		c.hold(e.Trial)
	}
}

// Release stops the held trials if nothing can wake them any more: no trial is left that could
// report, and none will be added. find returns a trial, reason the reason for the stop.
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
