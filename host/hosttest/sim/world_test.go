package sim

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Options of a life.
type Options struct {
	// Calm: no faults happen except Deaths.
	Calm bool
	// SegmentBytes and SnapshotEvery replace the drawn values, unless 0.
	SegmentBytes  int64
	SnapshotEvery uint64
	// Narrow: leave out all later additions to the simulator; see width.
	Narrow bool
	// Small draws a small experiment.
	Small bool
	// Leases says whether trials run on leases of an engine.
	Leases Leases
	// Deaths are planned beside those that the seed draws.
	Deaths []Death
	// Torn: the first host never syncs its record, and the power fails as it would
	// leave; this is the content of the record's one file after that.
	Torn func(whole []byte) []byte
	// Log receives a line for each step.
	Log func(string)
}

// Leases selects the worlds in which trials run on leases.
type Leases uint8

// Worlds with engines.
const (
	Drawn Leases = iota // as drawn: in a third of the wide worlds
	Never               // no world
	Always
)

// Death is an end of a host at a file operation.
type Death struct {
	// Host counts from 1. Disk is 0 for the journal's, 1 for the snapshots', 2
	// for the checkpoints'. Op counts the host's operations there from 1.
	Host, Disk, Op int
	Death          journaltest.Death
	Phase          journaltest.Phase
}

// Lived is what became of a life.
type Lived struct {
	Deaths, Hosts, Events, Steps int
	Power                        int
	// Leases were requested, Lost of them taken away without notice.
	Leases, Lost int
	Outcome      core.Outcome
	Records      [][]byte
	// Refused: the record was found to be damaged, and nothing was done.
	Refused bool
	// Ops are the file operations of the first host, by disk.
	Ops [3]int
	// Journal is the journal's folder at the end.
	Journal *journaltest.FS
}

// world is everything around the host.
type world struct {
	*clock
	agenda
	seed    uint64
	r       *rand.Rand
	options Options
	plan    *plan
	faults  faults
	width   width
	calm    bool
	disks   *disks
	books   *books
	cluster *cluster // nil: trials run on the nodes that the host has
	rig     *hosttest.Harness

	host   *hosttest.SteppedHost // nil: none runs
	number int                   // of the host, from 1
	lived  Lived

	turning, deciding, suggesting, publishing bool // one is planned

	procs    map[core.TrialNo]*proc
	nodes    []bool // which are there
	old      []core.Event
	present  map[ckpt]uint64 // checkpoints on disk, with their iterations
	damaged  map[ckpt]bool   // by somebody else
	memories [][]sdk.Event   // that snapshots are of
	// schedulerSeed is what the scheduler was opened with.
	schedulerSeed uint64
	wake          int64
	left          bool // the user has told the host to leave
	done          bool
	starts        int // hosts since the faults stopped
	// undisturbed: all was calm when the host started.
	undisturbed bool
	waits       int // for room, in this step
}

type ckpt struct {
	trial core.TrialNo
	id    uint32
}

// Limits of a life after the faults have stopped.
const (
	calmSteps = 200_000
	calmHosts = 25
	mostWaits = 1000
)

// Live lives a seed's life to its end, and returns the first thing that was wrong.
func Live(seed uint64, o Options) (Lived, error) {
	w, err := newWorld(seed, o)
	if err == nil {
		err = w.survive()
	}
	if err != nil {
		return w.lived, fmt.Errorf("seed %d, step %d, host %d: %w", seed, w.lived.Steps, w.number, err)
	}
	return w.lived, nil
}

func newWorld(seed uint64, o Options) (*world, error) {
	w := &world{clock: newClock(), seed: seed, r: rand.New(rand.NewPCG(seed, 0x73696d)), options: o,
		disks: newDisks(seed),
		procs: map[core.TrialNo]*proc{}, present: map[ckpt]uint64{}, damaged: map[ckpt]bool{}}
	var err error
	wide := rand.New(rand.NewPCG(seed, 0x77696465))
	w.width = drawWidth(wide, o)
	if w.plan, err = draw(seed, w.r, wide, o); err != nil {
		return w, err
	}
	w.faults, w.calm = w.plan.faults, o.Calm
	if w.cluster, err = drawCluster(w); err != nil {
		return w, err
	}
	w.books = newBooks(w)
	if w.cluster == nil {
		w.nodes = slices.Repeat([]bool{true}, len(w.plan.nodes))
	}
	w.clock.wait = w.waitForRoom
	p := w.plan
	w.rig = &hosttest.Harness{Seed: *p.experiment.Seed, RunID: journal.RunID{1, byte(seed)}, Clock: w.clock,
		SegmentBytes: p.segment, SnapshotEvery: p.snapshots,
		Snapshots: shelf{func() *journaltest.FS { return w.disks.snapshots }},
		Saves:     p.saves, Probe: w}
	if w.cluster != nil {
		w.rig.Leases = &w.cluster.rules
	}
	w.settle()
	return w, nil
}

func (w *world) log(format string, args ...any) {
	if w.options.Log != nil {
		w.options.Log(fmt.Sprintf("%8.3fs host %d: ", float64(w.now)/1e9, w.number) + fmt.Sprintf(format, args...))
	}
}

// survive makes an error of a panic, so that it comes with its seed.
func (w *world) survive() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return w.live()
}

// live continues until the experiment has ended for good.
func (w *world) live() error {
	for !w.done && w.books.err == nil {
		w.lived.Steps++
		if w.lived.Steps > w.plan.events && !w.calm {
			w.becalm()
		}
		if err := w.step(); err != nil {
			return err
		}
	}
	w.lived.Events, w.lived.Records, w.lived.Journal = len(w.books.records), w.books.records, w.disks.journal
	if w.books.err != nil {
		return w.books.err
	}
	if w.lived.Refused {
		return nil
	}
	return w.atEnd()
}

// becalm ends all faults: from here on the experiment must come to its end.
func (w *world) becalm() {
	w.log("the faults stop")
	w.calm = true
	w.lived.Steps, w.starts = w.plan.events, 0
	w.disks.setRoom(-1)
	w.later(0, 0, func() {
		for i := range w.nodes {
			w.nodeBack(i)
		}
		if w.cluster != nil {
			w.cluster.becalm()
		}
		w.unpause()
	})
}

// unpause continues what the user has paused: first the experiment, which leaves the trials that were paused alone, and
// then those.
func (w *world) unpause() {
	w.post(&core.UnpauseRequested{All: true})
	w.post(&core.UnpauseRequested{All: true})
}

// step is what happens next.
func (w *world) step() error {
	if w.calm && (w.lived.Steps > w.plan.events+calmSteps || w.starts > calmHosts) {
		return fmt.Errorf("it does not end: %s", w.standing())
	}
	if w.host == nil {
		w.takeUp()
		return nil
	}
	if w.agenda.Len() == 0 && !w.calm {
		w.becalm() // whatever it waits for is gone
	}
	if w.agenda.Len() == 0 {
		return fmt.Errorf("nothing is left to happen: %s", w.standing())
	}
	x := heap.Pop(&w.agenda).(item)
	w.now = max(w.now, x.at)
	if x.host != 0 && x.host != w.number {
		return nil
	}
	if w.misfortune(); w.host == nil {
		if x.host == 0 {
			w.agenda.plan(w.now, 0, x.do)
		}
		return nil
	}
	w.waits = 0
	x.do()
	w.see()
	return nil
}

// see notices a death at a file operation.
func (w *world) see() {
	if w.host != nil && w.disks.dead() {
		w.die("at a file operation")
	}
}

// later plans something of the host that runs; of 0, whichever runs then.
func (w *world) later(host int, in int64, do func()) { w.agenda.plan(w.now+in, host, do) }

// one says yes in so many of a thousand cases, unless all is calm.
func (w *world) one(thousandth int) bool {
	return !w.calm && thousandth > 0 && w.r.IntN(1000) < thousandth
}

// turnSoon has the loop take a step.
func (w *world) turnSoon() {
	if w.turning {
		return
	}
	w.turning = true
	in := between(w.r, 0, 2*time.Millisecond)
	if w.one(w.faults.slow) {
		in = between(w.r, 0, 3*time.Second)
	}
	w.later(w.number, in, w.turn)
}

func (w *world) turn() {
	w.turning = false
	busy, err := w.host.Step()
	if w.disks.dead() {
		return
	}
	if err != nil {
		w.fails(err)
		return
	}
	if busy {
		w.books.stepped()
		w.turnSoon()
	}
	if w.host.Over() {
		w.leaves()
		return
	}
	w.rouse()
}

// rouse has plugins and reporters look whether something waits for them.
func (w *world) rouse() {
	n := w.number
	if !w.deciding {
		w.deciding = true
		w.later(n, w.latency(), w.decide)
	}
	if !w.suggesting {
		w.suggesting = true
		w.later(n, w.latency(), w.suggest)
	}
	if !w.publishing && w.host.Publishes() {
		w.publishing = true
		in := int64(50 * time.Millisecond)
		if w.one(w.faults.slow) {
			in = between(w.r, 0, 5*time.Second)
		}
		w.later(n, in, w.publish)
	}
}

// latency is how long a plugin takes for a word.
func (w *world) latency() int64 {
	if w.one(w.faults.slowPlugin) {
		return between(w.r, 0, 20*time.Second)
	}
	return between(w.r, 0, 2*time.Millisecond)
}

func (w *world) decide() {
	if w.deciding = w.host.Decide(); w.deciding {
		w.later(w.number, w.latency(), func() {
			w.deciding = false
			w.host.DeliverDecisions()
			w.turnSoon()
		})
	}
}

func (w *world) suggest() {
	if w.suggesting = w.host.Suggest(); w.suggesting {
		w.later(w.number, w.latency(), func() {
			w.suggesting = false
			w.host.DeliverSuggestions()
			w.turnSoon()
		})
	}
}

func (w *world) publish() {
	w.publishing = false
	w.host.Publish()
	w.turnSoon()
}

// post tells the loop, if there is one.
func (w *world) post(events ...core.Event) {
	if w.host != nil {
		w.host.Post(events...)
		w.turnSoon()
	}
}

// waitForRoom is a host that waits on a full disk: something is deleted, sooner or
// later, or somebody ends the host.
func (w *world) waitForRoom(d time.Duration) {
	w.now += int64(d)
	w.log("waits for room")
	if w.waits++; w.waits > mostWaits {
		panic("it waits for room for ever")
	}
	switch {
	case w.calm || w.r.IntN(3) == 0:
		w.disks.setRoom(-1)
	case w.one(w.faults.death):
		w.disks.die(w.death())
	}
}

// standing describes the world, for a life that does not end.
func (w *world) standing() string {
	if w.host == nil {
		return "no host runs"
	}
	m := w.host.Machine()
	outcome, why := m.Outcome()
	text := fmt.Sprintf("outcome %v %s, searcher and scheduler quiescent %t, stuck %t, planned %d;", outcome, why,
		m.Quiescent(), m.Stuck(), m.Planned())
	for no := range core.TrialNo(m.Trials()) {
		v := m.View(no)
		text += fmt.Sprintf(" %d %s attempt %d iteration %d saving %t stopping %t %s;", no, v.State, v.Attempt,
			v.Iteration, v.Saving, v.Stopping, v.Reason())
	}
	for no, p := range w.procs {
		text += fmt.Sprintf(" process of %d: %+v;", no, *p)
	}
	if w.cluster != nil {
		text += w.cluster.standing()
	}
	return text
}
