package core

import "github.com/tunehost/tunehost/core/resource"

// schedule starts what can be started, then asks for more trials while a free slot could run them.
func (m *Machine) schedule() {
	m.work = m.work || m.engine.isDue()
	for m.work && m.hosted && m.owing == 0 && !m.onHold && m.outcome == 0 && m.closing.outcome == 0 &&
		!m.spent() && !m.unjudged() {
		m.work = false
		m.granter.start()
		m.askForMore()
	}
}

// nextInLine skips trials that have left the line.
func (m *Machine) nextInLine() (TrialNo, *queue) {
	for _, q := range []*queue{&m.resumed, &m.pending} {
		for {
			p, ok := q.peek()
			if !ok {
				break
			}
			if m.inLine(p) {
				return p.trial, q
			}
			q.pop()
		}
	}
	return 0, nil
}

// waitsFirst returns the trial that is next in line, and changes nothing; false if none waits.
func (m *Machine) waitsFirst() (TrialNo, bool) {
	for _, q := range []*queue{&m.resumed, &m.pending} {
		for _, p := range q.items[q.head:] {
			if m.inLine(p) {
				return p.trial, true
			}
		}
	}
	return 0, false
}

// inLine says whether a place in line is still that of its trial.
func (m *Machine) inLine(p place) bool {
	t := m.trial(p.trial)
	return t.state == Pending && t.ticket == p.ticket
}

func (m *Machine) slotFree() bool { return m.slots(1) > 0 }

// slots returns how many more trials may run at a time, at most limit; 0 or less: none.
func (m *Machine) slots(limit int) int {
	if m.spec.Concurrency == 0 {
		return limit
	}
	return min(limit, int(m.spec.Concurrency)-m.running)
}

func (m *Machine) request(no TrialNo) resource.Request {
	if r, ok := m.asked[no]; ok {
		return r
	}
	return m.spec.Request
}

func (m *Machine) start(no TrialNo, g grant) {
	t := m.trial(no)
	m.move(no, Running)
	m.running++
	t.measured = t.measured || t.attempt > 0 && !t.timed
	t.timed = false
	t.attempt++
	if t.attempt == 1 {
		t.started = m.now
	}
	m.setCause(t, Cause{})
	l := m.liveOf(no)
	l.begin(g, m.now)
	m.adopt(no)
	ref := m.restorePoint(no)
	_, memory := m.source(no)
	l.restored = ref
	m.rewind(no, l, ref)
	m.armTime(no)
	m.do(StartAttempt{Trial: no, Attempt: t.attempt, Placement: g.placement, Lease: g.lease, Restore: ref,
		Memory: memory})
}

// armTime watches the trial's own time limit, even without results.
func (m *Machine) armTime(no TrialNo) {
	if limit := m.spec.Stop.TimeNS; limit > 0 && !m.rerun(no) {
		t := m.trial(no)
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
	n := (max(m.granter.wantedTrials(), 0) + m.runs() - 1) / m.runs()
	if m.spec.Trials >= 0 {
		n = int(min(int64(n), m.spec.Trials-m.planned))
	}
	return n
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

// stuckSearcher limits how often "not yet" is accepted while nothing runs that could change the
// searcher's answer (B-006).
func (m *Machine) stuckSearcher() {
	if m.status != SearcherWaits || m.goingOn() || m.closing.outcome != 0 {
		return
	}
	if m.waits++; m.waits > waitRetriesCount {
		m.end(Failed, Cause{Kind: CauseSearcherStuck})
		return
	}
	if wait := m.granter.patienceNS(); wait > 0 {
		m.waitUntil = m.now + wait
	}
}

// goingOn reports that a trial runs or will run, a decision is to come, or the user holds a trial.
func (m *Machine) goingOn() bool {
	return m.counts[Running] > 0 || m.counts[Pending] > 0 || m.undecided.len > 0 || m.held > 0
}

func (e *TrialGiven) apply(m *Machine) {
	if m.outcome == Finished && m.closing.outcome == 0 {
		m.reopen() // it had just run out of trials, and the host still runs
	}
	first := m.trials.len
	m.create(e.Suggestion, e.Extra)
	for no := first; e.Clone && no < m.trials.len; no++ {
		m.clone(TrialNo(no), e.Donor)
	}
	m.askLess()
}

// askLess reduces the question to the plan: a trial that was added while the searcher was thinking is
// one of the planned ones (B-104).
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
	params := m.params.add(s.Params)
	for range m.runs() {
		m.createRun(s, params, extra)
	}
}

func (m *Machine) createRun(s Suggestion, params span, extra bool) {
	no := TrialNo(m.trials.len)
	m.trials.add(trial{marks: marks{extra: extra}, params: params})
	if s.Request != nil {
		m.asked[no] = *s.Request
	}
	m.unfinished++
	m.move(no, Pending)
	m.enqueue(no, false)
	m.tell(&Observation{Kind: SawAdded, To: ToAll, Trial: no})
}
