package core

import (
	"slices"

	"github.com/tunehost/tunehost/core/resource"
)

// schedule starts what can be started, then asks for more trials while a free
// slot could run them.
func (m *Machine) schedule() {
	for m.work && m.hosted && m.owing == 0 && !m.onHold && m.outcome == 0 && m.closing.outcome == 0 {
		m.work = false
		for m.startNext() {
		}
		m.askForMore()
	}
}

// startNext starts the first trial in line; a trial that cannot start holds up
// those behind it (B-001).
func (m *Machine) startNext() bool {
	no, q := m.nextInLine()
	if q == nil || !m.slotFree() {
		return false
	}
	r := m.request(no)
	p, ok := m.place(r)
	if !ok {
		return m.refuseIfNever(no, r, q)
	}
	q.pop()
	m.start(no, p)
	return true
}

// nextInLine skips trials that have left the line.
func (m *Machine) nextInLine() (TrialNo, *queue) {
	for _, q := range []*queue{&m.resumed, &m.pending} {
		for {
			p, ok := q.peek()
			if !ok {
				break
			}
			if t := &m.trials[p.trial]; t.state == Pending && t.ticket == p.ticket {
				return p.trial, q
			}
			q.pop()
		}
	}
	return 0, nil
}

func (m *Machine) slotFree() bool {
	return m.spec.Concurrency == 0 || m.running < int(m.spec.Concurrency)
}

func (m *Machine) place(r resource.Request) (resource.Placement, bool) {
	if !m.spec.Manual {
		if p, ok := m.ledger.Place(r); ok {
			return p, true
		}
		return m.beyond(r)
	}
	if m.offers == 0 {
		return resource.Placement{}, false
	}
	m.offers--
	return resource.Placement{}, true
}

// refuseIfNever fails a trial that no node could ever run (B-035).
func (m *Machine) refuseIfNever(no TrialNo, r resource.Request, q *queue) bool {
	if m.spec.Manual || m.spec.WaitForResources || m.nodes == 0 || m.moreNodes {
		return false
	}
	ok, short := m.ledger.FitsEver(r)
	if ok {
		return false
	}
	q.pop()
	m.fail(no, Cause{Kind: CauseNeverFits, Text: short.Error()})
	return true
}

func (m *Machine) request(no TrialNo) resource.Request {
	if r, ok := m.asked[no]; ok {
		return r
	}
	return m.spec.Request
}

func (m *Machine) start(no TrialNo, p resource.Placement) {
	t := &m.trials[no]
	m.move(no, Running)
	m.running++
	t.attempt++
	if t.attempt == 1 {
		t.started = m.now
	}
	t.attemptAt, t.lastAt = m.now, m.now
	m.because(t, Cause{})
	l := m.liveOf(no)
	l.begin(p)
	if p.Beyond {
		r := m.request(no)
		m.overcommitted = &r
	}
	m.adopt(no)
	ref := m.restorePoint(no)
	_, memory := m.source(no)
	l.restored = ref
	m.rewind(no, l, ref)
	m.armTime(no)
	m.do(StartAttempt{Trial: no, Attempt: t.attempt, Placement: p, Restore: ref, Memory: memory})
}

// armTime watches the trial's own time limit, results or not.
func (m *Machine) armTime(no TrialNo) {
	if limit := m.spec.Stop.TimeNS; limit > 0 && !m.rerun(no) {
		t := &m.trials[no]
		m.deadline.push(due{m.now + max(limit-m.trainingTime(t), 0), no, t.attempt})
	}
}

// askForMore asks the searcher while a free slot could run the answer (B-005).
func (m *Machine) askForMore() {
	if m.ask.count > 0 || m.status != SearcherReady || m.exhausted() {
		return
	}
	if n := m.wanted(); n > 0 {
		m.ask = ask{m.nextAsk, m.suggested, n}
		m.nextAsk++
		m.do(AskSearcher{Ask: m.ask.number, First: m.ask.first, Count: n})
	}
}

func (m *Machine) wanted() int {
	room, waiting, ahead := m.room(maxAskTrials), m.counts[Pending], 0
	if m.spec.Independent && !m.spec.Manual {
		ahead = min(maxAheadTrials, 2*(room+m.running))
	}
	if waiting > ahead/2 {
		return 0
	}
	n := (room + ahead - waiting + m.runs() - 1) / m.runs()
	if m.spec.Trials >= 0 {
		n = int(min(int64(n), m.spec.Trials-m.planned))
	}
	return n
}

// room is how many more trials could start now.
func (m *Machine) room(limit int) int {
	if m.spec.Concurrency > 0 {
		limit = min(limit, int(m.spec.Concurrency)-m.running)
	}
	if limit <= 0 {
		return 0
	}
	if m.spec.Manual {
		return min(limit, m.offers)
	}
	room := m.ledger.Room(m.spec.Request, limit)
	if _, more := m.beyond(m.spec.Request); more && room < limit {
		room++
	}
	return room
}

func (e *SuggestionsReceived) apply(m *Machine) {
	if m.ask.count == 0 || e.Ask != m.ask.number {
		return // an answer to a question of an earlier host
	}
	given := e.Suggestions[:min(len(e.Suggestions), m.ask.count)]
	for _, s := range given {
		m.suggested++
		m.create(s, false)
	}
	m.status = e.Status
	if e.Status == SearcherReady && len(given) < m.ask.count {
		m.status = SearcherWaits
	}
	m.ask = ask{}
	m.work = true
	m.stuckSearcher()
}

// stuckSearcher bounds how long "not yet" is believed while nothing goes on
// that could change the searcher's mind (B-006).
func (m *Machine) stuckSearcher() {
	if m.status != SearcherWaits || m.goingOn() || m.closing.outcome != 0 {
		return
	}
	if m.waits++; m.waits > waitRetriesCount {
		m.end(Failed, Cause{Kind: CauseSearcherStuck})
		return
	}
	if !m.spec.Manual { // there, the next offer asks again
		m.waitUntil = m.now + waitRetryNS
	}
}

// goingOn: a trial runs or will, a decision is to come, or the user holds one.
func (m *Machine) goingOn() bool {
	return m.counts[Running] > 0 || m.counts[Pending] > 0 || len(m.owed) > 0 || m.held > 0
}

func (e *TrialGiven) apply(m *Machine) {
	if m.outcome == Finished && m.closing.outcome == 0 {
		m.reopen() // it had just run out of trials, and the host is still there
	}
	first := len(m.trials)
	m.create(e.Suggestion, e.Extra)
	for no := first; e.Clone && no < len(m.trials); no++ {
		m.clone(TrialNo(no), e.Donor)
	}
	m.askLess()
}

// askLess gives up what is asked for beyond the plan: a trial that was given
// while the searcher was thinking is one of the planned ones (B-104).
func (m *Machine) askLess() {
	if m.spec.Trials >= 0 {
		m.ask.count = int(max(min(int64(m.ask.count), m.spec.Trials-m.planned), 0))
	}
}

func (m *Machine) create(s Suggestion, extra bool) {
	if m.endsForGood() {
		return
	}
	if !extra {
		m.planned++
	}
	params := m.store(s.Params)
	for range m.runs() {
		m.createRun(s, params, extra)
	}
}

func (m *Machine) createRun(s Suggestion, params span, extra bool) {
	no := TrialNo(len(m.trials))
	m.trials = append(m.trials, trial{extra: extra, params: params})
	if s.Request != nil {
		m.asked[no] = *s.Request
	}
	m.unfinished++
	m.move(no, Pending)
	m.enqueue(no, false)
	m.tell(Observation{Kind: SawAdded, To: ToAll, Trial: no})
}

func (m *Machine) store(p []byte) span {
	at := uint64(len(m.params))
	m.params = append(m.params, p...)
	return span{at, uint32(len(p))}
}

func (e *NodeJoined) apply(m *Machine) {
	if err := m.ledger.AddNode(e.Node); err != nil {
		m.do(Warn{Cause: Cause{Kind: CauseNode, Text: err.Error()}})
		return
	}
	m.nodes++
	m.moreNodes = e.More
	m.work = true
}

func (e *NodeLeft) apply(m *Machine) {
	if err := m.ledger.RemoveNode(e.ID); err != nil {
		m.do(Warn{Cause: Cause{Kind: CauseNode, Text: err.Error()}})
		return
	}
	m.nodes--
	for _, no := range m.lostWith(e.ID) {
		m.nodeLost(no)
	}
}

// lostWith returns what ran on a node; none of it that still ran holds anything any more,
// so that nobody is told to stop what is gone.
func (m *Machine) lostWith(node uint32) (lost []TrialNo) {
	for i := range m.lives {
		if l := &m.lives[i]; l.placed && standsOn(l.placement, node) {
			if !l.over || !m.since(RulesV2) {
				m.release(l)
			}
			lost = append(lost, l.trial)
		}
	}
	return lost
}

func standsOn(p resource.Placement, node uint32) bool {
	return slices.ContainsFunc(p.Slots, func(s resource.Slot) bool { return s.Node == node })
}

func (e *OfferMade) apply(m *Machine) {
	m.offers++
	m.work = true
	if m.status == SearcherWaits && !m.goingOn() {
		m.status = SearcherReady
	}
}

func (e *OfferWithdrawn) apply(m *Machine) {
	m.offers = max(m.offers-1, 0)
}
