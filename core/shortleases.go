package core

// maxShortLeases is how many leases of a trial end without a new result before the user is warned.
const maxShortLeases = 5

// progressed says that a trial has reported a new result.
func (x *engine) progressed(no TrialNo) {
	if x.m.spec.Leases != nil {
		x.withoutResult[no] = -1
	}
}

// endedEarly counts a lease that ended before its trial did. If too many in a row bring no new result,
// the trial may never make progress. One trial stands for all: a host warns once.
func (x *engine) endedEarly(no TrialNo) {
	x.withoutResult[no]++
	if n := x.withoutResult[no]; n >= maxShortLeases && !x.tooShort {
		x.tooShort = true
		x.m.warn(no, Cause{Kind: CauseLeasesTooShort, Count: uint32(n)})
	}
}
