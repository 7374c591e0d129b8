package core

// caller is the granter of ask and tell: a caller trains, and offers to train one more trial. A grant
// has no place; the caller keeps what trials need.
type caller struct {
	m      *Machine
	offers int
}

func (c *caller) start() {
	for c.startNext() {
	}
}

func (c *caller) startNext() bool {
	no, q := c.m.firstInLine()
	if q == nil || c.offers == 0 {
		return false
	}
	c.offers--
	q.pop()
	c.m.start(no, grant{})
	return true
}

// wantedTrials returns one trial for each offer, unless one waits.
func (c *caller) wantedTrials() int {
	if c.m.counts[Pending] > 0 {
		return 0
	}
	return min(c.m.slots(maxAskTrials), c.offers)
}

func (c *caller) release(grant) {}

// patienceNS is 0: the next offer asks again, so that the outcome depends on the caller's requests
// alone.
func (c *caller) patienceNS() int64 { return 0 }

func (e *OfferMade) apply(m *Machine) {
	m.caller.offers++
	m.work = true
	if m.status == SearcherWaits && !m.goingOn() {
		m.status = SearcherReady
	}
}

func (e *OfferWithdrawn) apply(m *Machine) {
	m.caller.offers = max(m.caller.offers-1, 0)
}

// OfferIsVain reports whether an offer would get no trial, and would change nothing when it is withdrawn. Then a
// caller that asks again and again need not record it. It may be false although an offer gets no trial, for example
// before the searcher was asked.
func (m *Machine) OfferIsVain() bool {
	switch {
	case !m.spec.Manual || !m.goingOn(): // an offer asks a searcher again that waits
		return false
	case m.onHold, m.closing.outcome != 0, !m.slotFree():
		return true
	}
	return m.counts[Pending] == 0 && m.ask.count == 0 && (m.status == SearcherWaits || m.exhausted())
}

// Offers returns how many offers wait for a trial (Spec.Manual).
func (m *Machine) Offers() int { return m.caller.offers }

// keepsState reports that the caller keeps the state of its trials: a paused trial continues at its
// iteration, with its results and without a checkpoint; a failed one has lost its state.
func (s *Spec) keepsState() bool { return s.Manual }
