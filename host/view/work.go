package view

import (
	"math"
	"slices"
)

// begunTrial is one that has begun and not ended, in seconds.
type begunTrial struct {
	// left is how long it still trains; least is what is left of it at least before its next result.
	left, least float64
}

// work is what an experiment has still to do.
type work struct {
	// running are the trials that train now, waiting is what is left of those that wait to continue.
	running []begunTrial
	waiting []float64
	// fresh is how many trials will start, and each how long one of them takes.
	fresh int64
	each  float64
	// slots is how many trials train at a time.
	slots int
	// limit is how long the experiment may still run; 0: as long as it takes.
	limit float64
}

// left returns how many seconds the experiment still runs, so many seconds after the work was counted. A trial that
// has trained longer than it should counts as about to end.
func (w *work) left(after float64) float64 {
	ends := w.ends(after)
	for _, left := range w.waiting {
		ends[slices.Index(ends, slices.Min(ends))] += left
	}
	left := slices.Max(ends)
	if w.fresh > 0 {
		left = max(left, w.lastOf(ends))
	}
	if w.limit > 0 {
		left = min(left, max(w.limit-after, 0))
	}
	return left
}

// ends returns when each slot is free of the trials that run now.
func (w *work) ends(after float64) []float64 {
	ends := make([]float64, 0, max(w.slots, len(w.running), 1))
	for _, t := range w.running {
		ends = append(ends, max(t.left-after, t.least, 0))
	}
	return ends[:cap(ends)]
}

// lastOf returns when the last of the new trials ends: the first moment up to which the slots can end so many. The
// last wave counts in full, though it may leave slots empty.
func (w *work) lastOf(ends []float64) float64 {
	low := slices.Min(ends)
	high := slices.Max(ends) + w.each*math.Ceil(float64(w.fresh)/float64(len(ends)))
	for range 64 {
		middle := low + (high-low)/2
		if w.done(ends, middle) >= float64(w.fresh) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// done returns how many new trials have ended at a moment.
func (w *work) done(ends []float64, at float64) (n float64) {
	for _, from := range ends {
		if at > from {
			n += math.Floor((at - from) / w.each)
		}
	}
	return n
}
