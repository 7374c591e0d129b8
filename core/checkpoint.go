package core

import (
	"slices"

	"github.com/tunehost/tunehost/core/stat"
)

// checkpoint is a complete checkpoint on disk.
type checkpoint struct {
	ref     CheckpointRef // of another trial if it was adopted
	path    string        // where the program has put it; "" once it is complete, and for others
	score   float64
	scored  bool
	bytes   int64
	bad     bool // an attempt could not start from it
	results uint32
	at      uint64 // iteration of the trial's last result
	// metrics and windows are the trial's statistics at that time, so that a restart from it drops later
	// ones (B-061).
	metrics []metricThen
	windows []stat.Window
}

// metricThen is the summary of a metric at the time of a checkpoint.
type metricThen struct {
	id      MetricID
	summary stat.Summary
}

// checkpointDue asks for a checkpoint of this result, or takes the one that the trainable has made; a
// decision waits for it (B-011).
func (m *Machine) checkpointDue(t *trial, l *live, e *ResultReported) {
	c := &m.spec.Checkpoint
	switch {
	case e.Checkpoint != "":
		m.takeFrom(e, l)
	case !m.spec.Saves:
	case c.Every > 0 && t.iteration%c.Every == 0, c.AtEnd && e.Done:
		m.do(SaveAttempt{e.Trial, e.Attempt, m.take(e.Trial, l), t.iteration})
	}
}

// takeFrom takes the checkpoint that the program has handed over. Neither the program nor a decision
// waits for that.
func (m *Machine) takeFrom(e *ResultReported, l *live) {
	id := m.take(e.Trial, l)
	l.taken[len(l.taken)-1].path = e.Checkpoint
	m.do(TakeCheckpoint{Trial: e.Trial, Attempt: e.Attempt, ID: id, Iteration: m.trial(e.Trial).iteration,
		Path: e.Checkpoint})
}

// takeLast takes a checkpoint that comes with a result after the one that stopped the trial: the
// result does not count, and the checkpoint belongs to the last one that does.
func (m *Machine) takeLast(e *ResultReported) {
	if !m.since(RulesV2) || e.Checkpoint == "" || !m.current(e.Trial, e.Attempt) {
		return
	}
	if l := m.liveOf(e.Trial); !l.over && !l.last && l.reported && (l.intent == toStop || l.verdict == Stop) {
		m.takeFrom(e, l)
	}
}

// waitsForSave says that the trainable is asked for a checkpoint, and the decision waits for it
// (B-011). Since RulesV2 nothing waits for a checkpoint that a program made by itself.
func (m *Machine) waitsForSave(l *live) bool {
	if !m.since(RulesV2) {
		return l.saving > 0
	}
	return l.saving > l.handedOver()
}

// handedOver counts the checkpoints in progress that the program has made by itself.
func (l *live) handedOver() (n uint32) {
	for i := range l.taken {
		if l.taken[i].path != "" {
			n++
		}
	}
	return n
}

// take begins a checkpoint of the result just counted. Later results may come before it is complete;
// they do not belong to it.
func (m *Machine) take(no TrialNo, l *live) uint32 {
	t := m.trial(no)
	id := m.newCheckpointID(t)
	l.saving++
	l.taken = append(l.taken, m.snapshot(no, l, id, t.iteration))
	return id
}

func (m *Machine) snapshot(no TrialNo, l *live, id uint32, iteration uint64) checkpoint {
	t := m.trial(no)
	c := checkpoint{ref: CheckpointRef{no, id, t.attempt, iteration}, results: t.results, at: t.resultAt,
		windows: slices.Clone(l.windows)}
	for at := t.cells; at != 0; at = m.cell(at).next {
		x := metricThen{m.cell(at).id, m.summaryOf(m.cell(at))}
		c.metrics = append(c.metrics, x)
		if x.id == m.score && m.score != 0 {
			c.score, c.scored = x.summary.Last, true
		}
	}
	return c
}

// taken returns the data recorded at the iteration of a complete checkpoint.
func (m *Machine) taken(e *CheckpointSaved, l *live) checkpoint {
	for i, c := range l.taken {
		if c.ref.ID == e.ID {
			l.taken = slices.Delete(l.taken, i, i+1)
			c.path = ""
			if c.ref.Iteration == e.Iteration {
				return c
			}
			break
		}
	}
	return m.snapshot(e.Trial, l, e.ID, e.Iteration)
}

func (m *Machine) newCheckpointID(t *trial) uint32 {
	t.lastCkpt++
	return t.lastCkpt
}

// savesAtStop reports whether a trial that is told to end makes a checkpoint: to continue later, or to
// keep its end; not if this iteration already has one (B-058).
func (m *Machine) savesAtStop(t *trial, why intent) bool {
	if !m.spec.Saves || why == toFail || why == toStop && !m.spec.Checkpoint.AtEnd {
		return false
	}
	l := &m.lives[t.live-1]
	if !l.reported {
		return m.savesFirst(why)
	}
	have := m.ckpts[l.trial]
	fresh := len(have) > 0 && have[len(have)-1].ref.Iteration == t.iteration && !have[len(have)-1].bad
	return !fresh && !m.waitsForSave(l) && !l.makes(t.iteration)
}

// savesFirst reports whether an attempt that is set aside before its first result makes a checkpoint of that result,
// which would be lost otherwise. A scheduler pauses trials because of their results.
func (m *Machine) savesFirst(why intent) bool {
	return m.since(RulesV9) && (why == toHold || why == toRequeue)
}

// makes reports whether a checkpoint of an iteration is in progress.
func (l *live) makes(iteration uint64) bool {
	return slices.ContainsFunc(l.taken, func(c checkpoint) bool { return c.ref.Iteration == iteration })
}

func (e *CheckpointSaved) apply(m *Machine) {
	if !m.current(e.Trial, e.Attempt) {
		return
	}
	t, l := m.trial(e.Trial), m.liveOf(e.Trial)
	t.noRestore = false
	c := m.taken(e, l)
	c.bytes = e.Bytes
	m.stored += e.Bytes
	m.hold(e.Trial, c)
	m.tell(&Observation{Kind: SawCheckpoint, To: ToScheduler | ToReporters, Trial: e.Trial, Attempt: e.Attempt,
		Iteration: e.Iteration})
	m.keep(e.Trial)
	m.makeRoom()
	m.saveOver(e.Trial, l)
}

func (e *SaveFailed) apply(m *Machine) {
	if !m.current(e.Trial, e.Attempt) {
		return
	}
	l := m.liveOf(e.Trial)
	handed := l.drops(e.ID) && m.since(RulesV2)
	switch {
	case l.orphan:
		l.missing = true
	case e.GivenUp && l.intent != toRequeue: // as if the host had died while it saved
		l.missing, l.gaveUp = true, true
	case e.ID == l.holding:
		m.stateLost(e.Trial, e.Error)
	case handed && l.nodeGone && l.end.well() && m.mayLose(e.Trial):
		l.missing, l.lost = true, true
	case m.closing.atOnce, e.GivenUp: // it continues from an older one
	case !l.reported && m.since(RulesV9): // there was nothing to save yet
	case !l.over && (l.intent == noIntent || l.intent.pauses()), handed && l.endedWell():
		m.stopAttempt(e.Trial, toFail, Cause{Kind: CauseUnsaved, Text: e.Error})
	case handed && l.intent == toStop:
		m.warn(e.Trial, Cause{Kind: CauseLastUnsaved, Text: e.Error})
	}
	m.saveOver(e.Trial, l)
}

// endedWell reports that the attempt has ended by itself, and waits only for its checkpoints.
func (l *live) endedWell() bool { return l.over && l.intent == noIntent && l.end.well() }

// well reports that the attempt has not failed.
func (e *AttemptEnded) well() bool { return e.Cause.Kind == CauseNone || e.Cause.Kind == CauseNoResult }

// keep deletes what the policy does not keep. The newest stays, and the best ones by score: ties keep
// the newer, NaN goes first (B-053), and before it what cannot be loaded.
func (m *Machine) keep(no TrialNo) {
	if m.spec.Checkpoint.Keep == 0 {
		return
	}
	for limit := m.keepLimit(m.ckpts[no]); len(m.ckpts[no]) > limit; {
		list := m.ckpts[no]
		worst := 0
		for i := 1; i < len(list)-1; i++ {
			if m.betterScore(list[worst], list[i]) {
				worst = i
			}
		}
		gone := list[worst]
		m.ckpts[no] = slices.Delete(list, worst, worst+1)
		m.drop(gone)
	}
}

// keepLimit returns how many checkpoints stay: as many as the policy says, and one more if the newest
// is not one of the best. Before RulesV2 the newest always counted.
func (m *Machine) keepLimit(list []checkpoint) int {
	limit := int(m.spec.Checkpoint.Keep)
	if len(list) == 0 || !m.since(RulesV2) {
		return limit
	}
	newest, better := list[len(list)-1], 0
	for _, c := range list[:len(list)-1] {
		if m.betterScore(c, newest) {
			better++
		}
	}
	if better >= limit {
		return limit + 1
	}
	return limit
}

// drop deletes a checkpoint that one trial does not need any more, unless another does.
func (m *Machine) drop(c checkpoint) {
	switch n := m.shared[c.ref]; n {
	case 0:
		m.stored -= c.bytes
		m.do(DeleteCheckpoint{c.ref.Trial, c.ref.ID})
	case 1:
		delete(m.shared, c.ref)
	default:
		m.shared[c.ref] = n - 1
	}
}

func (m *Machine) betterScore(a, b checkpoint) bool {
	if a.bad != b.bad {
		return b.bad
	}
	x, aScored := m.scoreOf(&a)
	y, bScored := m.scoreOf(&b)
	if !aScored || !bScored {
		return aScored && !bScored
	}
	return stat.Better(x, y, m.spec.Checkpoint.Mode)
}

// scoreOf returns a checkpoint's value of the metric that counts now. Before RulesV2 it was the metric
// that counted when the checkpoint was made.
func (m *Machine) scoreOf(c *checkpoint) (score float64, scored bool) {
	switch {
	case !m.since(RulesV2) && m.score == 0:
		return 0, c.scored
	case !m.since(RulesV2):
		return c.score, c.scored
	}
	i := slices.IndexFunc(c.metrics, func(x metricThen) bool { return x.id == m.score })
	if i < 0 || m.score == 0 {
		return 0, false
	}
	return c.metrics[i].summary.Last, c.metrics[i].summary.Count > 0
}

// restorePoint returns the checkpoint that the next attempt starts from.
func (m *Machine) restorePoint(no TrialNo) CheckpointRef {
	if c, _ := m.source(no); c != nil {
		return c.ref
	}
	if m.spec.Start != nil && !m.trial(no).noStart {
		return StartRef(*m.spec.Start)
	}
	return CheckpointRef{}
}

// newest returns the index of a trial's newest checkpoint that is not known to be unloadable; -1 for
// none.
func (m *Machine) newest(no TrialNo) int {
	list := m.ckpts[no]
	for i := len(list) - 1; i >= 0; i-- {
		if !list[i].bad {
			return i
		}
	}
	return -1
}

// goBack gives up the checkpoint that the attempt could not start from, and adds to the cause what the
// next attempt does: it tries the one before, and without any it starts from the beginning (B-057).
func (m *Machine) goBack(no TrialNo, why *Cause) {
	from := m.liveOf(no).restored
	m.trial(no).noStart = m.trial(no).noStart || from.Trial == NoTrial
	for i := range m.ckpts[no] {
		if m.ckpts[no][i].ref == from {
			m.ckpts[no][i].bad = true
		}
	}
	m.startsFrom(no, why)
}

// startsFrom adds to a cause from where the next attempt starts.
func (m *Machine) startsFrom(no TrialNo, why *Cause) {
	why.Then = ThenBeginning
	if x := m.restorePoint(no); x.ID != 0 {
		why.Then, why.From = ThenCheckpoint, x.Iteration
	}
}

// trustAgain lets the user retry checkpoints that could not be loaded.
func (m *Machine) trustAgain(no TrialNo) {
	for i := range m.ckpts[no] {
		m.ckpts[no][i].bad = false
	}
}

// rewind sets iteration and statistics back to the checkpoint's (B-055). A trial whose state the
// caller keeps continues where it is.
func (m *Machine) rewind(no TrialNo, l *live, ref CheckpointRef) {
	t := m.trial(no)
	if ref.ID == 0 && (m.spec.keepsState() || t.attempt == 1) {
		return
	}
	m.scratch(t, l)
	t.iteration = ref.Iteration
	if ref.ID == 0 || ref.Trial == NoTrial || !m.ofStretch(no, ref) {
		return
	}
	c, _ := m.source(no)
	t.results, t.resultAt = c.results, c.at
	cells := m.cellsOf(t)
	for i, x := range c.metrics {
		at := cells.of(x.id) // another trial's cells may have another order
		m.setSummary(m.cell(at.cell), x.summary)
		if i < len(c.windows) {
			*l.window(at.i) = c.windows[i]
		}
	}
}

// scratch resets iteration and statistics to the trial's beginning.
func (m *Machine) scratch(t *trial, l *live) {
	t.iteration, t.results, l.windows = 0, 0, l.windows[:0]
	for at := t.cells; at != 0; at = m.cell(at).next {
		m.setSummary(m.cell(at), stat.Summary{})
	}
}

// lose resets a failed trial, whose state the caller has lost.
func (m *Machine) lose(no TrialNo) {
	if m.spec.keepsState() {
		m.scratch(m.trial(no), m.liveOf(no))
	}
}

// checkpointAt returns a trial's newest checkpoint, or the one of an iteration, that is not known to
// be unloadable.
func (m *Machine) checkpointAt(no TrialNo, iteration uint64) (checkpoint, bool) {
	if int(no) >= m.trials.len {
		return checkpoint{}, false
	}
	list := m.ckpts[no]
	for i := len(list) - 1; i >= 0; i-- {
		if !list[i].bad && (iteration == 0 || list[i].ref.Iteration == iteration) {
			return list[i], true
		}
	}
	return checkpoint{}, false
}
