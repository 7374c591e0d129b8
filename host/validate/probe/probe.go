package probe

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host/agent/door"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/validate/examine"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Subject is an executor to examine.
type Subject struct {
	Options []byte // a JSON object
	// Open starts a process of the plugin.
	Open func(context.Context) (plugin.Plugin, error)
	// Dir is where the results of experiments go; the probe looks whether nodes see it.
	Dir     string
	Version string // of tunehost
	// Within bounds the time in the queue.
	Within time.Duration
	// Port is where this machine listens for its nodes; 0: anywhere. Address is by what they reach it; "": by what it
	// knows itself.
	Port    int
	Address string
	// Request is what the lease has.
	Request sdk.LeaseBundle
	// Say is called when there is something new to wait for.
	Say func(string)
}

// releaseWithin bounds the time that the lease takes to be given back.
const releaseWithin = time.Minute

// examination is an examination under way.
type examination struct {
	Subject
	dir      string // of its own, in Dir
	prefix   string
	executor plugin.Executor
	events   chan sdk.LeaseEvent
	findings []examine.Finding
	nodes    []sdk.ClusterNode // as far as the executor knows them
	refused  bool              // the lease was: there is nothing to give back
}

// Examine asks the executor for a lease, looks at it and gives it back.
func Examine(ctx context.Context, s Subject) []examine.Finding {
	x := &examination{Subject: s, events: make(chan sdk.LeaseEvent, 100)}
	dir, err := ownDir(s.Dir)
	if err != nil {
		x.bad("results", err.Error()+"; choose another directory")
		return x.findings
	}
	x.dir = dir
	defer nolink.RemoveTree(dir)
	x.examine(ctx)
	return x.findings
}

// ownDir makes a folder for the examination where results go, or would go.
func ownDir(dir string) (string, error) {
	if err := storage.CheckResults(dir); err != nil {
		return "", err
	}
	if _, err := os.Stat(dir); err != nil {
		dir = filepath.Dir(filepath.Clean(dir))
	}
	dir, err := os.MkdirTemp(dir, ".tunehost-doctor-")
	if err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}

func (x *examination) well(what, format string, args ...any) {
	x.findings = append(x.findings, examine.Finding{What: what, Text: fmt.Sprintf(format, args...)})
}

func (x *examination) bad(what, text string) {
	x.findings = append(x.findings, examine.Finding{What: what, Text: text, Bad: true})
}

func (x *examination) examine(ctx context.Context) {
	d, err := newReceiver(x.dir, x.Address, x.Port)
	if err != nil {
		x.bad("probe", err.Error())
		return
	}
	defer d.close()
	if err := x.open(ctx, d.host()); err != nil {
		x.bad("executor", untrusted.Line(err.Error(), maxText*2))
		return
	}
	defer func() { _ = x.executor.Close() }()
	go x.listen()
	if err := x.executor.Adopt(ctx, nil); err != nil {
		x.bad("engine", untrusted.Line(err.Error(), maxText*2)+
			"; try again when the engine's own commands work on this machine")
		return
	}
	x.well("engine", "answers")
	x.capacity(ctx)
	x.lease(ctx, d)
}

func (x *examination) open(ctx context.Context, host string) error {
	p, err := x.Open(ctx)
	if err != nil {
		return err
	}
	agent, err := self()
	if err != nil {
		return err
	}
	id := make([]byte, 6)
	_, _ = rand.Read(id) // it never fails
	x.prefix = "th-doctor-" + hex.EncodeToString(id) + "-"
	x.executor, err = p.OpenExecutor(ctx, sdk.Execution{Experiment: "doctor", Dir: x.dir, Prefix: x.prefix,
		Agent: agent, Host: host}, x.Options)
	if err != nil {
		_ = p.Close()
	}
	return err
}

// self is this program, as the agent.
func self() (*sdk.Agent, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	return &sdk.Agent{Path: path, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

func (x *examination) listen() {
	defer close(x.events)
	for {
		events, err := x.executor.Recv()
		if err != nil {
			return
		}
		for _, e := range events {
			x.events <- e
		}
	}
}

// capacity says what the cluster has.
func (x *examination) capacity(ctx context.Context) {
	if !x.executor.Traits().Capacity {
		return
	}
	nodes, err := x.executor.Capacity(ctx)
	if err != nil {
		x.bad("cluster", untrusted.Line(err.Error(), maxText*2))
		return
	}
	x.nodes = nodes
	x.findings = append(x.findings, examine.Finding{What: "cluster", Text: summary(nodes), Bad: len(nodes) == 0})
}

// summary is a cluster in one line.
func summary(nodes []sdk.ClusterNode) string {
	down := 0
	total, free := map[string]float64{}, map[string]float64{}
	for _, n := range nodes {
		if n.Down {
			down++
			continue
		}
		for _, a := range n.Total {
			total[a.Name] += a.Value
		}
		for _, a := range n.Free {
			free[a.Name] += a.Value
		}
	}
	if len(nodes) == 0 {
		return "no nodes; correct the options in --executor that choose them, such as a partition or a queue"
	}
	text := fmt.Sprintf("%d nodes", len(nodes))
	if len(nodes) == 1 {
		text = "1 node"
	}
	if down > 0 {
		text += fmt.Sprintf(" (%d take no jobs)", down)
	}
	const gib = 1 << 30
	return text + fmt.Sprintf("; free: %g of %g CPUs, %g of %g GPUs, %.0f of %.0f GiB", free["cpu"], total["cpu"],
		free["gpu"], total["gpu"], free["memory"]/gib, total["memory"]/gib)
}

// lacks says of which resource no node has as much as is requested.
func (x *examination) lacks() string {
	for _, a := range x.Request {
		most, where := 0.0, ""
		for _, n := range x.nodes {
			if has := sdk.LeaseBundle(n.Total).Get(a.Name); has > most {
				most, where = has, " ("+untrusted.Line(n.Name, maxText)+")"
			}
		}
		if len(x.nodes) > 0 && most < a.Value {
			return fmt.Sprintf("; %s %g is more than any node has: the most is %g%s", a.Name, a.Value, most, where)
		}
	}
	return ""
}

// lease takes a lease, and gives it back whatever happens.
func (x *examination) lease(ctx context.Context, d *receiver) {
	value, err := d.value()
	if err != nil {
		x.bad("probe", err.Error())
		return
	}
	name := x.prefix + "1"
	defer x.release(name)
	began := time.Now()
	err = x.executor.Allocate(ctx, []sdk.LeaseRequest{{Lease: name, Strategy: "pack", Agent: value,
		Bundles: []sdk.LeaseBundle{x.Request}}})
	if err != nil {
		x.bad("lease", untrusted.Line(err.Error(), maxText*2))
		return
	}
	if x.granted(ctx, began) {
		x.probe(ctx, d, began)
	}
}

func (x *examination) release(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), releaseWithin)
	defer cancel()
	began := time.Now()
	if err := x.executor.Release(ctx, []string{name}); err != nil {
		x.bad("release", untrusted.Line(err.Error(), maxText*2)+"; the job "+name+" may be left")
		return
	}
	if !x.refused {
		x.well("release", "given back in %s", took(began))
	}
}

// took is the time since then, in two or three digits.
func took(began time.Time) time.Duration {
	d := time.Since(began)
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(10 * time.Millisecond)
}

// granted waits for the grant.
func (x *examination) granted(ctx context.Context, began time.Time) bool {
	timer := time.NewTimer(x.Within)
	defer timer.Stop()
	why := "the executor says nothing"
	for {
		select {
		case e, ok := <-x.events:
			switch {
			case !ok:
				x.bad("lease", "the executor's process has ended")
				return false
			case e.Kind == sdk.LeaseGranted && len(e.Bundles) > 0:
				b := e.Bundles[0]
				place := strings.Join(append([]string{b.Node}, b.Devices...), ", GPU ")
				x.well("lease", "granted on %s after %s", place, took(began))
				return true
			case e.Kind == sdk.LeasePending:
				why = untrusted.Line(e.Why, maxText*2)
				x.Say("the lease waits: " + why)
			case e.Kind == sdk.LeaseRefused:
				x.refused = true
				x.bad("lease", "refused: "+untrusted.Line(e.Why, maxText*2)+x.lacks()+
					"; correct the options in --executor, or request less with --gpus")
				return false
			case e.Kind == sdk.LeaseLost:
				x.ended(e.Why)
				return false
			}
		case <-timer.C:
			x.bad("lease", fmt.Sprintf("not granted within %s: %s; wait longer with --wait", x.Within, why))
			return false
		case <-ctx.Done():
			x.bad("lease", "interrupted; it waited: "+why)
			return false
		}
	}
}

// ended says that the job of the lease is over. A job that fails at once may be over before the
// executor has seen that it was granted: the words are the same.
func (x *examination) ended(why string) {
	x.bad("probe", "the lease ended before the node reported: "+untrusted.Line(why, maxText*2))
}

// reportWithin is the time from a grant to the report: nodes may have to be prepared, and addresses tried.
const reportWithin = 2 * time.Minute

// probe says what the probe has found.
func (x *examination) probe(ctx context.Context, d *receiver, began time.Time) {
	if !x.executor.Traits().Agents {
		x.well("probe", "trials of this executor run on this machine: there is no other to look at")
		return
	}
	user := ctx
	ctx, cancel := context.WithTimeout(ctx, reportWithin)
	defer cancel()
	lost := make(chan string, 1)
	go func() {
		for e := range x.events {
			if e.Kind == sdk.LeaseLost {
				lost <- e.Why
				cancel()
				return
			}
		}
	}()
	r, err := d.wait(ctx)
	if err != nil {
		x.unreported(user, lost)
		return
	}
	if r.Failure != "" {
		x.ended(r.Failure)
		return
	}
	x.reported(&r, began)
}

// unreported says why there is no report.
func (x *examination) unreported(user context.Context, lost chan string) {
	select {
	case why := <-lost:
		x.ended(why)
	case <-user.Done():
		x.bad("probe", "interrupted before the node has reported")
	default:
		x.bad("probe", "the node has not reported within "+reportWithin.String()+
			": neither does it reach this machine, nor does it have this machine's files")
	}
}

func (x *examination) reported(r *Report, began time.Time) {
	x.well("node", "%s, %s, with tunehost %s, %s after the request", r.Host, r.System, r.Version, took(began))
	if r.Version != x.Version {
		x.bad("tunehost", fmt.Sprintf("the node has version %s, this machine %s", r.Version, x.Version))
	}
	if r.NoRoom != "" {
		x.bad("room", "no trial can start on the node: "+r.NoRoom)
	} else {
		x.well("room", "the node has a folder for the files of trials")
	}
	x.well("python3", "%s", or(r.Python, "not found on the node; only needed for programs written in it"))
	x.gpus(r)
	if r.Shared {
		x.well("files", "the node sees %s: results and checkpoints are not copied", x.Dir)
	} else {
		x.well("files", "the node does not see %s: checkpoints travel over the connection; "+
			"list what programs need in the key upload", x.Dir)
	}
	switch {
	case r.Address == door.Name:
		x.well("way back", "%s: the node need not reach this machine", r.Address)
	case r.Engine && r.Address != "":
		x.bad("way back", fmt.Sprintf("the engine's own connection does not work (%s), but the node reaches this "+
			"machine at %s: leave the option connection out", strings.Join(r.Unreached, "; "), r.Address))
	case r.Address != "":
		x.well("way back", "the node reaches this machine at %s", r.Address)
	default:
		x.bad("way back", "the node reaches this machine at none of its addresses ("+strings.Join(r.Unreached, "; ")+
			"): set host_address to a name of this machine that nodes reach, and host_port to a port that its "+
			"firewall opens; or set the executor's option connection to stdio if it has one, or run tunehost on a "+
			"node, in a job")
	}
}

// gpus says what GPUs the node and the lease have. What was requested has to be there: an engine may grant GPUs
// that it does not set up.
func (x *examination) gpus(r *Report) {
	asked := x.Request.Get("gpu") > 0
	if asked && r.Visible == "" && len(r.GPUs) == 0 {
		x.bad("gpu", "granted, but the node shows none: CUDA_VISIBLE_DEVICES is not set in the lease, and nvidia-smi "+
			"is missing or finds none; have them set up on the node (for Slurm: GresTypes, and File= in gres.conf)")
		return
	}
	x.well("gpu", "%s; %s", onNode(r), inLease(r, asked))
}

func onNode(r *Report) string {
	if len(r.GPUs) == 0 {
		return "nvidia-smi is missing on the node or finds none"
	}
	models := slices.Compact(slices.Sorted(slices.Values(r.GPUs)))
	return fmt.Sprintf("%d on the node (%s)", len(r.GPUs), strings.Join(models, ", "))
}

func inLease(r *Report, asked bool) string {
	switch {
	case r.Visible != "":
		return "the lease has those of CUDA_VISIBLE_DEVICES=" + r.Visible
	case asked:
		return "CUDA_VISIBLE_DEVICES is not set in the lease, so that trials may share GPUs; have the engine bind " +
			"GPUs to jobs (for Slurm: File= in gres.conf)"
	}
	return "the lease has none, because none were requested: --gpus 1 requests one"
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
