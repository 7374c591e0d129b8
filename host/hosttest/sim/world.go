package sim

import (
	"container/heap"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Options of a life.
type Options struct {
	// Calm: nothing ever goes wrong but what Death says.
	Calm bool
	// SegmentBytes and SnapshotEvery replace what the seed draws, where not 0.
	SegmentBytes  int64
	SnapshotEvery uint64
	// Small draws a small experiment.
	Small bool
	// Deaths are planned beside those that the seed draws.
	Deaths []Death
	// Torn: the first host never syncs its record, and the power fails as it would
	// leave; this is what is left of the record's one file.
	Torn func(whole []byte) []byte
	// Log is told what happens.
	Log func(string)
}

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
	Outcome                      core.Outcome
	Records                      [][]byte
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
	calm    bool
	disks   *disks
	books   *books
	rig     *host.Rig

	host   *host.Turned // nil: none runs
	number int          // of the host, from 1
	lived  Lived

	turning, deciding, suggesting, publishing bool // one is planned

	procs    map[core.TrialNo]*proc
	nodes    []bool // which are there
	old      []core.Event
	present  map[ckpt]uint64 // checkpoints on disk, with their iterations
	damaged  map[ckpt]bool   // by somebody else
	memories [][]sdk.Event   // that snapshots are of
	wake     int64
	left     bool // the user has told the host to leave
	done     bool
	starts   int // hosts since the faults stopped
	fullFrom int64
}

type ckpt struct {
	trial core.TrialNo
	id    uint32
}

// Limits of a life after the faults have stopped.
const (
	calmSteps = 200_000
	calmHosts = 25
)

// Live lives a seed's life to its end, and returns the first thing that was wrong.
func Live(seed uint64, o Options) (Lived, error) {
	w, err := newWorld(seed, o)
	if err == nil {
		err = w.live()
	}
	if err != nil {
		return w.lived, fmt.Errorf("seed %d, step %d, host %d: %w", seed, w.lived.Steps, w.number, err)
	}
	return w.lived, nil
}

func newWorld(seed uint64, o Options) (*world, error) {
	w := &world{clock: newClock(), seed: seed, r: rand.New(rand.NewPCG(seed, 0x73696d)), options: o, disks: newDisks(seed),
		procs: map[core.TrialNo]*proc{}, present: map[ckpt]uint64{}, damaged: map[ckpt]bool{}}
	var err error
	if w.plan, err = draw(seed, w.r, o); err != nil {
		return w, err
	}
	w.faults, w.calm = w.plan.faults, o.Calm
	w.books = newBooks(w)
	w.nodes = make([]bool, len(w.plan.nodes))
	for i := range w.nodes {
		w.nodes[i] = true
	}
	w.clock.wait = w.waitForRoom
	p := w.plan
	w.rig = &host.Rig{Experiment: p.experiment, Seed: *p.experiment.Seed, RunID: journal.RunID{1, byte(seed)}, Plugins: w.registry(), Clock: w.clock,
		SegmentBytes: p.segment, SnapshotEvery: p.snapshots, Snapshots: shelf{func() *journaltest.FS { return w.disks.snapshots }},
		Saves: p.saves, Witness: w}
	return w, nil
}

func (w *world) log(format string, args ...any) {
	if w.options.Log != nil {
		w.options.Log(fmt.Sprintf("%8.3fs host %d: ", float64(w.now)/1e9, w.number) + fmt.Sprintf(format, args...))
	}
}

// live goes on until the experiment has ended for good.
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
		w.post(&core.UnpauseRequested{All: true})
	})
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

// takeUp starts a host.
func (w *world) takeUp() {
	w.number++
	w.starts++
	w.lived.Hosts++
	w.turning, w.deciding, w.suggesting, w.left, w.wake = false, false, false, false, 0
	w.publishing = w.number == 1 && w.options.Torn != nil // for ever
	w.rig.PID, w.rig.Resume = uint32(w.number), ""
	if w.one(200) {
		w.rig.Resume = pick(w.r, []string{"errored_only", "errored_restart", "errored_resume"})
	}
	w.rig.Reported = w.books.lastTold
	if w.one(w.faults.retell) {
		w.rig.Reported = 0
	}
	w.rig.Nodes = w.rig.Nodes[:0]
	for i, there := range w.nodes {
		if there {
			w.rig.Nodes = append(w.rig.Nodes, w.plan.nodes[i])
		}
	}
	w.arm()
	w.books.taking()
	w.rig.Record = watchedFS{w.disks.journal, w.books.syncing, w.books.safe, w.books.lost}
	t, err := w.rig.Start()
	w.log("starts: %v", err)
	if w.disks.dead() {
		w.die("while starting")
		return
	}
	if err != nil {
		w.refused(err)
		return
	}
	w.host = t
	w.books.taken(t)
	w.sweep()
	w.turnSoon()
	if w.calm {
		w.post(&core.UnpauseRequested{All: true})
	}
}

// refused is a host that could not start, because of a fault that will pass.
func (w *world) refused(err error) {
	if w.options.Torn != nil && errors.Is(err, journal.ErrCorrupt) {
		w.done, w.lived.Refused = true, true
		return
	}
	passes := noSpace(err) || errors.Is(err, journal.ErrNoSpace) || errors.Is(err, syscall.EIO) || errors.Is(err, plugin.ErrGaveUp)
	if !passes || w.starts > calmHosts && w.calm {
		w.books.fail("a host does not start: %v", err)
	}
	if noSpace(err) || errors.Is(err, journal.ErrNoSpace) {
		w.disks.setRoom(-1)
	}
	w.disks.die(journaltest.Kill)
	w.die("because it could not start")
}

// die is the end of a host, and of all that it started.
func (w *world) die(how string) {
	death := w.disks.death()
	w.disks.die(death)
	w.log("dies %s (%v)", how, death)
	w.lived.Deaths++
	if death == journaltest.Power {
		w.lived.Power++
	}
	w.countOps()
	w.books.died(death == journaltest.Power)
	if w.books.powerOff {
		w.old = nil // attempts that the record has lost have their numbers again
	}
	w.host = nil
	clear(w.procs)
	w.restart()
	w.rot()
	w.now += between(w.r, time.Millisecond, 10*time.Second)
}

// restart leaves of the disks what the death does.
func (w *world) restart() {
	name := w.disks.journal.Names()
	if w.number > 1 || w.options.Torn == nil || len(name) != 1 {
		w.disks.restart()
		return
	}
	whole := w.disks.journal.ReadBytes(name[0])
	w.disks.restart()
	w.disks.journal.WriteBytes(name[0], w.options.Torn(whole))
}

func (w *world) countOps() {
	if w.number == 1 {
		for i, fs := range w.disks.all() {
			w.lived.Ops[i] = fs.Ops()
		}
	}
}

// rot damages a snapshot, which nobody needs.
func (w *world) rot() {
	fs := w.disks.snapshots
	for _, name := range fs.Names() {
		if b := fs.ReadBytes(name); len(b) > 0 && w.one(w.faults.rot) {
			b[w.r.IntN(len(b))] ^= 1 << w.r.IntN(8)
			fs.WriteBytes(name, b)
		}
	}
}

// arm plans deaths of this host.
func (w *world) arm() {
	all := w.disks.all()
	for _, d := range w.options.Deaths {
		if d.Host == w.number {
			all[d.Disk].DieAt(d.Op, d.Death, d.Phase)
		}
	}
	if w.one(w.faults.deathAgain) {
		fs := all[w.r.IntN(3)]
		fs.DieAt(fs.Ops()+1+w.r.IntN(20), w.death(), journaltest.Phase(w.r.IntN(3)))
	}
}

func (w *world) death() journaltest.Death {
	if w.r.IntN(1000) < w.faults.power {
		return journaltest.Power
	}
	return journaltest.Kill
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

// fails is a host that ends because of an error that it does not survive.
func (w *world) fails(err error) {
	w.log("fails: %v", err)
	if w.calm && !errors.Is(err, journal.ErrFailed) {
		w.books.fail("the host fails: %v", err)
	}
	w.disks.die(journaltest.Kill)
	w.die("by itself")
}

// leaves is a host that has nothing more to do.
func (w *world) leaves() {
	m := w.host.Machine()
	outcome, why := m.Outcome()
	w.log("leaves: %v %s", outcome, why)
	if w.number == 1 && w.options.Torn != nil {
		w.disks.die(journaltest.Power)
		w.die("in the end")
		return
	}
	err := w.host.Leave()
	if w.disks.dead() {
		return
	}
	if err != nil {
		w.fails(err)
		return
	}
	w.books.left(m)
	w.countOps()
	w.host = nil
	again := w.one(300) && m.Count(core.Errored) > 0
	w.done = (outcome == core.Finished || outcome == core.StoppedByUser) && !again
	w.lived.Outcome = outcome
	w.disks.die(journaltest.Kill) // nothing of the process is left
	if w.one(w.faults.power) {
		w.disks.die(journaltest.Power)
	}
	w.disks.restart()
	w.now += between(w.r, time.Second, time.Hour)
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
	text := fmt.Sprintf("outcome %v %s, searcher and scheduler quiescent %t, stuck %t, planned %d;", outcome, why, m.Quiescent(), m.Stuck(), m.Planned())
	for no := range core.TrialNo(m.Trials()) {
		v := m.View(no)
		text += fmt.Sprintf(" %d %s attempt %d iteration %d saving %t stopping %t %s;", no, v.State, v.Attempt, v.Iteration, v.Saving, v.Stopping, v.Reason)
	}
	for no, p := range w.procs {
		text += fmt.Sprintf(" process of %d: %+v;", no, *p)
	}
	return text
}

func clone(n resource.Node) resource.Node {
	n.Devices = slices.Clone(n.Devices)
	return n
}
