package core

import "slices"

// plan requests missing leases, and releases those that no trial will need. At the limit, a lease
// without a waiting trial makes room.
func (x *engine) plan() {
	missing := x.match()
	x.releaseSurplus()
	for _, no := range missing {
		if !x.makeRoom() {
			return
		}
		x.request(no)
	}
}

// match marks the leases that are wanted: for the answer that the searcher owes, for the waiting
// trials, in their order, and for those that the searcher may still suggest. It returns what is
// missing: a trial that needs a lease, or NoTrial for one that may come.
func (x *engine) match() (missing []TrialNo) {
	for _, l := range x.leases {
		l.wanted = false
	}
	slots := min(x.leasesLeft(), x.m.slots(maxLeases))
	slots -= x.want(LeaseFree, min(slots, x.owedByTheSearcher()))
	for no := range x.m.line() {
		if slots <= 0 {
			break
		}
		if l := x.pickUnwanted(no); l != nil {
			l.wanted = true
		} else if x.isDelayed(x.m.request(no)) {
			continue
		} else {
			missing = append(missing, no)
		}
		slots--
	}
	return append(missing, x.matchFuture(slots)...)
}

// pickUnwanted returns a lease that a trial in line may use once it is granted.
func (x *engine) pickUnwanted(no TrialNo) *lease {
	if l := x.pick(no, LeaseFree, false); l != nil {
		return l
	}
	return x.pick(no, LeaseRequested, false)
}

// matchFuture marks leases for trials that may come. Missing ones are requested while the searcher can
// be asked.
func (x *engine) matchFuture(slots int) (missing []TrialNo) {
	s := &x.m.spec
	future := min(max(slots, 0), x.mayCome())
	future -= x.want(LeaseFree, future)
	future -= x.want(LeaseRequested, future)
	if x.settings.OwnRequests || x.m.status != SearcherReady || x.isDelayed(s.Request) {
		return nil
	}
	return slices.Repeat([]TrialNo{NoTrial}, future)
}

// want marks up to n leases for trials that may come.
func (x *engine) want(state LeaseState, n int) (marked int) {
	for _, l := range x.leases {
		if marked < n && l.state == state && !l.wanted && x.mayServe(l) {
			l.wanted = true
			marked++
		}
	}
	return marked
}

// mayServe reports whether a lease may serve a trial that has not come yet. The request of a trial that
// brings its own is not known yet.
func (x *engine) mayServe(l *lease) bool {
	switch {
	case l.state == LeaseRequested && l.trial != NoTrial, x.waitsFor(l):
		return false
	case x.settings.OwnRequests:
		return true
	}
	return l.request.Equal(x.m.spec.Request)
}

// owedByTheSearcher returns how many trials the searcher was asked for and has not suggested.
func (x *engine) owedByTheSearcher() int { return x.m.ask.count * x.m.runs() }

// mayCome returns how many trials the searcher may still suggest, as far as that matters.
func (x *engine) mayCome() int {
	switch s := &x.m.spec; {
	case x.m.exhausted():
		return 0
	case s.Trials < 0:
		return maxLeases
	default:
		return int(min(s.Trials-x.m.planned-int64(x.m.ask.count), maxLeases)) * x.m.runs()
	}
}

// releaseSurplus releases all leases that are not wanted, except as many as there are trials that may
// be resumed. A request for one particular trial is useless without that trial.
func (x *engine) releaseSurplus() {
	keep := x.m.counts[Paused] - x.m.held
	if x.settings.OwnRequests {
		keep += x.mayCome()
	}
	for i := 0; i < len(x.leases); i++ {
		switch l := x.leases[i]; {
		case !l.unused() || l.wanted:
		case l.state == LeaseRequested && l.trial != NoTrial, keep <= 0:
			x.giveBack(l)
			i--
		default:
			keep--
		}
	}
	for len(x.leases) > x.bound() && x.releaseLeastUseful() {
	}
}

// makeRoom reports whether one more lease may be requested, and releases one for it if necessary.
func (x *engine) makeRoom() bool { return len(x.leases) < x.bound() || x.releaseLeastUseful() }

// releaseLeastUseful releases a lease without a waiting trial: the one that has been free for longest, or else
// the last requested.
func (x *engine) releaseLeastUseful() bool {
	var gone *lease
	for _, l := range x.leases {
		if !l.unused() || l.wanted {
			continue
		}
		if gone == nil || l.state > gone.state || l.state == gone.state && l.state == LeaseRequested {
			gone = l
		}
		if l.state == LeaseFree && gone.state == LeaseFree && l.since < gone.since {
			gone = l
		}
	}
	if gone == nil {
		return false
	}
	x.giveBack(gone)
	return true
}

// request requests a lease, for a trial in line or for the first that needs one.
func (x *engine) request(no TrialNo) {
	x.last++
	l := &lease{id: x.last, state: LeaseRequested, request: x.m.spec.Request, trial: NoTrial, wanted: true}
	if no != NoTrial {
		l.request = x.m.request(no)
		if x.settings.OwnRequests || !l.request.Equal(x.m.spec.Request) {
			l.trial = no
		}
	}
	x.leases = append(x.leases, l)
	x.m.do(RequestLease{Lease: l.id, Request: l.request, For: l.trial})
}

// releaseUnused ends a step: it releases leases that have been free for too long, and at the end of the
// experiment all unused ones.
func (x *engine) releaseUnused() {
	x.wake = 0
	if len(x.leases) == 0 && len(x.refusals) == 0 {
		return
	}
	if x.m.closing.outcome != 0 {
		x.giveAllBack()
		return
	}
	x.releaseIdle()
	for _, s := range x.refusals {
		if s.until > x.m.now {
			x.wakeAt(s.until)
		}
	}
}

// releaseIdle releases what has been free for too long. A lease for the searcher's answer is not idle.
func (x *engine) releaseIdle() {
	owed := x.owedByTheSearcher()
	for i := 0; i < len(x.leases); i++ {
		l := x.leases[i]
		switch until := l.since + x.settings.IdleNS; {
		case l.state != LeaseFree:
		case owed > 0 && l.wanted:
		case until <= x.m.now:
			x.giveBack(l)
			i--
		default:
			x.wakeAt(until)
		}
	}
}

// isDue reports that a time has come at which something changes, with any event.
func (x *engine) isDue() bool { return x.wake > 0 && x.m.now >= x.wake }

func (x *engine) wakeAt(at int64) {
	if x.wake == 0 || at < x.wake {
		x.wake = at
	}
}
