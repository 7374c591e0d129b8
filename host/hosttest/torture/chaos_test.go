package torture

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/internal/engines/slurm"
)

var (
	chaosTime = flag.Duration("chaos.time", 0, "how long TestChaosOnSlurm goes on; 0: one experiment, and few faults")
	chaosSeed = flag.Uint64("chaos.seed", 0, "the seed of its first experiment; 0: drawn")
	chaosJobs = flag.Int("chaos.jobs", 2, "how many experiments it has at a time")
)

// chaosFaults is how many faults an experiment suffers; the pauses between them are 2.5 s on average.
const (
	chaosFaults = 16
	fewFaults   = 5
	chaosPause  = 2500 * time.Millisecond
)

// Whatever happens to a cluster of eight nodes, to Slurm and to the host: each experiment comes to its end. Nothing is
// lost or recorded twice, no retry is charged, and no job and no process is left.
// B-075, B-130, B-132, B-133, B-134
func TestChaosOnSlurm(t *testing.T) {
	e := newEngine(t, slurm.Start(t, slurm.Options{Nodes: 8, CPUs: 2, GPUs: 1}))
	if *chaosTime == 0 {
		e.chaos(t, 1, fewFaults)
		return
	}
	first := *chaosSeed
	if first == 0 {
		first = uint64(time.Now().UnixNano()) % 1_000_000_000
	}
	end := time.Now().Add(*chaosTime)
	go func() {
		for tick := time.Tick(time.Minute); time.Now().Before(end); <-tick {
			fmt.Printf("%s\n%s", time.Now().Format(time.TimeOnly), counted())
		}
	}()
	next := make(chan uint64)
	go func() {
		defer close(next)
		for s := first; time.Now().Before(end) && failures() < 20; s++ {
			next <- s
		}
	}()
	t.Run("all", func(t *testing.T) {
		for range *chaosJobs {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for s := range next {
					t.Run(fmt.Sprint("seed ", s), func(t *testing.T) { e.chaos(t, s, chaosFaults) })
				}
			})
		}
	})
	t.Logf("\n%s", counted())
}

// chaos runs one experiment on the cluster, with faults, until its end.
func (e *engine) chaos(t *testing.T, seed uint64, faults int) {
	rng := rand.New(rand.NewPCG(seed, 0))
	k := chaosKinds[seed%uint64(len(chaosKinds))]
	small := privileged() && mountable() && rng.IntN(3) == 0
	x := prepare(t, k.on(rng, small), small)
	x.engine = e
	e.wrap(t, x)
	began, repairs := time.Now(), &repairs{}
	defer func() {
		count("experiments")
		if t.Failed() {
			count("experiments failed")
			t.Logf("to do the like again: make chaos-slurm MINUTES=1 SEED=%d", seed)
		}
		t.Logf("%s, %d hosts, %v", k.name, x.hosts, time.Since(began).Round(time.Second))
	}()
	for done := false; faults > 0 && !done && !t.Failed(); {
		done = x.endure(t, rng, &faults, repairs)
	}
	repairs.wait()
	e.calm(t, x)
	if !t.Failed() {
		x.finish(t)
		x.audit(t)
		x.released(t)
	}
}

// endure runs one host, and has it suffer faults until it ends; it reports whether the experiment is done.
func (x *experiment) endure(t testing.TB, rng *rand.Rand, faults *int, r *repairs) (done bool) {
	x.left = false
	before := x.written()
	h := x.start(t)
	if rng.IntN(4) > 0 {
		h.await(t, time.Minute, func() bool { return x.written() > before+2000 })
	}
	for *faults > 0 && !h.within(time.Duration(rng.ExpFloat64()*float64(chaosPause))) {
		x.engine.inflict(t, h, rng, r)
		*faults--
	}
	if *faults == 0 {
		r.wait()
		x.engine.calm(t, x)
	}
	h.ends(t)
	h.judge(t)
	return h.status == 0
}

// released checks that nothing is left of an experiment that has ended: no lease, no job, no process.
func (x *experiment) released(t testing.TB) {
	t.Helper()
	e, err := view.Open(x.dir)
	must(t, err)
	defer e.Close()
	if n := e.Now().Machine.LeasesHeld(); n > 0 {
		t.Errorf("%d leases are held at the end", n)
	}
	jobs := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if jobs = x.jobs(t, "PENDING,RUNNING,SUSPENDED,CONFIGURING"); jobs == "" {
			break
		}
	}
	if jobs != "" {
		t.Errorf("jobs are left:\n%s", jobs)
	}
	hosttest.CheckNoOrphans(t, x.root)
	moods, _ := os.ReadFile(filepath.Join(x.root, "moods")) // none, if no command has misbehaved
	for range strings.Lines(string(moods)) {
		count("calls of Slurm that failed, hung or printed something else")
	}
}

// jobs lists the experiment's jobs in some states.
func (x *experiment) jobs(t testing.TB, states string) string {
	t.Helper()
	var list []string
	for line := range strings.Lines(x.engine.Run(t, "squeue", "-h", "-o", "%i %T %N %r %Z", "-t", states)) {
		if strings.Contains(line, x.root) {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return strings.Join(list, "\n")
}
