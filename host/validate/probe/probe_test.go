package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// A folder for results that run refuses is bad here, too, and no job is submitted for it.
func TestFolderOfEverybody(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	found := Examine(t.Context(), Subject{Dir: dir})
	if len(found) != 1 || !found[0].Bad || found[0].What != "results" ||
		!strings.Contains(found[0].Text, "is in a folder that everybody can write to") {
		t.Errorf("%+v", found)
	}
}

// GPUs that were granted, and are not there, are no good news.
func TestGPUs(t *testing.T) {
	one := sdk.LeaseBundle{{Name: "cpu", Value: 1}, {Name: "gpu", Value: 1}}
	for _, c := range []struct {
		request sdk.LeaseBundle
		report  Report
		bad     bool
		want    string
	}{
		{one, Report{}, true, "for Slurm: GresTypes, and File= in gres.conf"},
		{one, Report{Visible: "0"}, false, "the lease has those of CUDA_VISIBLE_DEVICES=0"},
		{one, Report{GPUs: []string{"A100", "A100"}}, false,
			"2 on the node (A100); CUDA_VISIBLE_DEVICES is not set in the lease, so that trials may share GPUs; have"},
		{one[:1], Report{}, false, "none were requested: --gpus 1 requests one"},
		{one[:1], Report{GPUs: []string{"A100"}}, false, "1 on the node (A100); the lease has none, because"},
	} {
		x := &examination{Subject: Subject{Request: c.request}}
		x.gpus(&c.report)
		if f := x.findings[0]; f.Bad != c.bad || !strings.Contains(f.Text, c.want) {
			t.Errorf("%+v: %+v, want %q", c.report, f, c.want)
		}
	}
}

// Engines refuse a request without saying what nodes have.
func TestLacks(t *testing.T) {
	nodes := []sdk.ClusterNode{{Name: "n1", Total: []sdk.Amount{{Name: "cpu", Value: 4}}},
		{Name: "n2", Total: []sdk.Amount{{Name: "cpu", Value: 4}, {Name: "gpu", Value: 2}}}}
	for gpus, want := range map[float64]string{
		2: "",
		3: "; gpu 3 is more than any node has: the most is 2 (n2)",
	} {
		x := &examination{nodes: nodes}
		x.Request = sdk.LeaseBundle{{Name: "cpu", Value: 1}, {Name: "gpu", Value: gpus}}
		if got := x.lacks(); got != want {
			t.Errorf("%g GPUs: %q, want %q", gpus, got, want)
		}
		if x.nodes = nil; x.lacks() != "" {
			t.Error("something is said of nodes that are not known")
		}
	}
}

// A job that fails at once may be over before the executor has seen that it began: the words are the
// same as for one that was seen.
func TestEndsAtOnce(t *testing.T) {
	for _, seen := range []bool{false, true} {
		events := make(chan sdk.LeaseEvent, 2)
		if seen {
			events <- sdk.LeaseEvent{Kind: sdk.LeaseGranted, Bundles: []sdk.GrantedBundle{{Node: "n1"}}}
		}
		events <- sdk.LeaseEvent{Kind: sdk.LeaseLost, Why: "the job failed"}
		x := &examination{executor: remote{}, events: events}
		x.Within, x.Say = time.Minute, func(string) {}
		if x.granted(t.Context(), time.Now()) {
			d, err := newReceiver(t.TempDir(), "", 0)
			if err != nil {
				t.Fatal(err)
			}
			defer d.close()
			x.probe(t.Context(), d, time.Now())
		}
		f := x.findings[len(x.findings)-1]
		if !f.Bad || f.What != "probe" || f.Text != "the lease ended before the node reported: the job failed" {
			t.Errorf("seen %t: %+v", seen, f)
		}
	}
}

// remote is an executor whose trials run elsewhere.
type remote struct{ plugin.Executor }

func (remote) Traits() sdk.ExecutorTraits { return sdk.ExecutorTraits{Agents: true} }

// A node on which an agent cannot keep files is bad: no trial can start there.
func TestNoRoom(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	if why := noRoom(); why != "" {
		t.Error(why)
	}
	t.Setenv("TMPDIR", "/proc/none")
	x := &examination{}
	x.reported(&Report{NoRoom: noRoom()}, time.Now())
	f := x.findings[1]
	if !f.Bad || f.What != "room" || !strings.Contains(f.Text, "/proc/none: no such file or directory;") ||
		!strings.HasSuffix(f.Text, `setup: "export TMPDIR=/scratch/me"`) {
		t.Errorf("%+v", x.findings)
	}
}

// The receiver listens where the host would, and says which option is wrong if it cannot.
func TestReceiverIsWhereTheHostIs(t *testing.T) {
	d, err := newReceiver(t.TempDir(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	port := d.listener.Addr().(*net.TCPAddr).Port
	if _, err := newReceiver(t.TempDir(), "", port); err == nil || !strings.Contains(err.Error(), "option host_port") {
		t.Error(err)
	}
	d.close()
	if d, err = newReceiver(t.TempDir(), "login1", port); err != nil {
		t.Fatal(err)
	}
	defer d.close()
	if want := fmt.Sprint("login1:", port); d.instructions.Dial[0] != want {
		t.Errorf("nodes try %v, want %s first", d.instructions.Dial, want)
	}
	x := &examination{}
	x.reported(&Report{Unreached: []string{"refused"}}, time.Now())
	if f := x.findings[len(x.findings)-1]; !f.Bad || !strings.Contains(f.Text, "set host_address to") {
		t.Errorf("%+v", f)
	}
}

// A user who does not wait for the node is not told that it has had its time.
func TestInterruptedBeforeTheReport(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x := &examination{}
	x.unreported(ctx, make(chan string))
	if f := x.findings[0]; !f.Bad || f.Text != "interrupted before the node has reported" {
		t.Errorf("%+v", f)
	}
}
