package core

import "slices"

// undecided is a result that the scheduler has not decided.
type undecided struct {
	number  uint64 // of its observation
	trial   TrialNo
	attempt uint32
	paused  bool // the trial has paused since
	over    bool // decided, or the trial has ended
}

// undecideds are the results that the scheduler has not decided, in the order of their numbers. Most are decided
// soon and in that order, so that looking for one in a short list costs less than in a map.
type undecideds struct {
	list []undecided
	len  int // without those that are over
}

func (u *undecideds) add(x undecided) {
	u.list = append(u.list, x)
	u.len++
}

// find returns nil for a result that is over. What it returns is valid until the next change.
func (u *undecideds) find(number uint64) *undecided {
	low, high := 0, len(u.list)
	for low < high {
		if middle := (low + high) / 2; u.list[middle].number < number {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == len(u.list) || u.list[low].number != number || u.list[low].over {
		return nil
	}
	return &u.list[low]
}

// remove says that a result is decided, or that its trial has ended.
func (u *undecideds) remove(number uint64) {
	x := u.find(number)
	if x == nil {
		return
	}
	x.over = true
	switch u.len--; {
	case u.len == 0:
		u.list = u.list[:0]
	case len(u.list) > 2*u.len+64:
		u.list = slices.DeleteFunc(u.list, func(x undecided) bool { return x.over })
	}
}
