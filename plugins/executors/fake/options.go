package fake

import (
	"time"

	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// options are the cluster and what befalls it. Times are in seconds.
type options struct {
	Nodes     int
	CPU       float64
	GPU       int
	MemoryGiB float64
	Resources map[string]float64

	Queue     float64
	Time      float64
	Preempt   float64
	Notice    float64
	LoseNode  float64
	CutOff    float64
	Repair    float64
	Refuse    float64
	Slow      float64
	Flaky     float64
	HostGrace float64 // of the experiment

	Agents bool

	State string
	Seed  uint64
}

// maxSeconds keeps times within what a time.Duration holds.
const maxSeconds = 1e9

// minGrace is longer than the time between two writes of when a host was seen; usualGrace is where the
// experiment says nothing.
const (
	minGrace   = 5
	usualGrace = 600
)

var (
	seconds  = option.From(0).To(maxSeconds)
	fraction = option.From(0).Below(1)
)

var declared = option.Declare(func(o *options) []option.Option {
	return append(o.cluster(), o.misfortunes()...)
})

// read reads the options of an experiment.
func read(text []byte) (options, error) {
	o, err := declared.Read(text)
	if err == nil {
		err = o.checkTimes()
	}
	if err == nil && o.Time > 0 && o.Notice >= o.Time {
		err = option.Wrong("notice", o.Notice, "less than time, which is %v, so that a lease lasts before it ends",
			o.Time)
	}
	return o, err
}

// minSeconds is the least time between two events of a kind: a shorter one keeps the cluster busy without end.
const minSeconds = 0.1

// checkTimes refuses times that are not 0, which means never, and too short.
func (o *options) checkTimes() error {
	names := []string{"time", "preempt", "lose_node", "cut_off"}
	for i, x := range []float64{o.Time, o.Preempt, o.LoseNode, o.CutOff} {
		if x > 0 && x < minSeconds {
			return option.Wrong(names[i], x, "0, or at least %v", minSeconds)
		}
	}
	return nil
}

func (o *options) cluster() []option.Option {
	return []option.Option{
		option.Int("nodes", &o.Nodes, 4, option.From(1).To(10_000),
			"Nodes of the cluster: fake-1, fake-2 and so on."),
		option.Float("cpu", &o.CPU, 4, option.From(0), "CPUs of each node."),
		option.Int("gpu", &o.GPU, 0, option.From(0).To(1024), "GPUs of each node."),
		option.Float("memory_gib", &o.MemoryGiB, 64, option.From(0), "Memory of each node, in GiB."),
		option.Bool("agents", &o.Agents, false,
			"Start agents, as the executors of real clusters do: a process of this machine for each bundle of a "+
				"lease, which connects to the host and runs trials. Their output is in .fake-agents in the "+
				"experiment's directory. The host notices itself that a node is cut off."),
		option.Of("resources", &o.Resources, nil, option.Map(option.Number(option.From(0))),
			"Whatever else each node has: name and amount."),
		option.String("state", &o.State, "",
			"The file with the state of the cluster, relative to the experiment's directory; "+
				"two experiments that name the same file share a cluster. Empty: a file of the experiment's own."),
		option.Int("seed", &o.Seed, 0, option.Any(), "The seed of everything random."),
	}
}

func (o *options) misfortunes() []option.Option {
	return []option.Option{
		option.Float("queue", &o.Queue, 0, seconds, "Seconds that each lease waits in the queue."),
		option.Float("time", &o.Time, 0, seconds,
			"Seconds until the time limit of a lease; 0: none, else at least 0.1."),
		option.Float("preempt", &o.Preempt, 0, seconds,
			"Seconds, on average, until a lease is preempted; 0: never, else at least 0.1."),
		option.Float("notice", &o.Notice, 5, seconds,
			"Seconds from the notice that a lease ends (time limit or preemption) to its end, less than time; "+
				"0: no notice."),
		option.Float("lose_node", &o.LoseNode, 0, seconds,
			"Seconds, on average, between two losses of a node; 0: none, else at least 0.1."),
		option.Float("cut_off", &o.CutOff, 0, seconds,
			"Seconds, on average, between two nodes that are cut off from the others; 0: none, else at least 0.1."),
		option.Float("repair", &o.Repair, 30, seconds, "Seconds that a node stays lost or cut off."),
		option.Float("refuse", &o.Refuse, 0, fraction, "Fraction of the leases that are refused without a reason. "+
			"A refusal fails the trial that the lease is for, if amounts of resources depend on parameters; "+
			"else it ends the experiment. With wait_for_resources the lease is requested again."),
		option.Float("slow", &o.Slow, 0, seconds, "Seconds that each call takes."),
		option.Float("flaky", &o.Flaky, 0, fraction,
			"Fraction of the calls that fail. Half of the failed calls take effect nevertheless."),
	}
}

// span is a time of the options in nanoseconds.
func span(seconds float64) int64 { return int64(seconds * float64(time.Second)) }
