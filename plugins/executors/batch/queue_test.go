package batch

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// queue is a batch system of local processes.
type queue struct {
	t   *testing.T
	dir string
}

func newQueue(t *testing.T) *queue {
	t.Helper()
	q := &queue{t, t.TempDir()}
	t.Cleanup(func() { q.run("end") })
	return q
}

func program(t testing.TB) string {
	t.Helper()
	path, err := filepath.Abs("testdata/queue.sh")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func (q *queue) run(args ...string) string {
	q.t.Helper()
	out, err := exec.Command(program(q.t), append([]string{q.dir}, args...)...).CombinedOutput()
	if err != nil {
		q.t.Logf("queue.sh %v: %v: %s", args, err, out)
	}
	return string(out)
}

// fails makes the next calls fail.
func (q *queue) fails(faults ...string) {
	q.t.Helper()
	if err := os.WriteFile(filepath.Join(q.dir, "faults"), []byte(strings.Join(faults, "\n")+"\n"), 0o600); err != nil {
		q.t.Fatal(err)
	}
}

// owes reports whether a fault of a command has not come yet.
func (q *queue) owes(command string) bool {
	left, _ := os.ReadFile(filepath.Join(q.dir, "faults"))
	return strings.Contains(string(left), command)
}

// jobs are the jobs that run or wait.
func (q *queue) jobs() (n int) {
	q.t.Helper()
	states, err := filepath.Glob(filepath.Join(q.dir, "jobs", "*", "state"))
	if err != nil {
		q.t.Fatal(err)
	}
	for _, s := range states {
		if text, _ := os.ReadFile(s); strings.TrimSpace(string(text)) != "F" {
			n++
		}
	}
	return n
}

// options are those of the queue, and more.
func (q *queue) options(more map[string]any) []byte {
	q.t.Helper()
	base := program(q.t) + " " + q.dir + " "
	o := map[string]any{"submit": base + "submit {name} {nodes} {cpu} {script}", "status": base + "status {id}",
		"cancel": base + "cancel {id}", "list": base + "list {name}", "launch": base + "launch {nodes}",
		"system": "pbs", "poll": 0.05}
	for k, v := range more {
		o[k] = v
	}
	text, err := json.Marshal(o)
	if err != nil {
		q.t.Fatal(err)
	}
	return text
}

// desk is the host of an executor.
type desk struct {
	*executor
	t     *testing.T
	heard chan sdk.LeaseEvent
}

func openDesk(t *testing.T, x sdk.Execution, options []byte) *desk {
	t.Helper()
	d := &desk{t: t, heard: make(chan sdk.LeaseEvent, 1000)}
	e, traits, err := open(x, options, func(events ...sdk.LeaseEvent) {
		for _, e := range events {
			d.heard <- e
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if traits.Agents != (x.Agent != nil) {
		t.Errorf("%+v", traits)
	}
	d.executor = e.(*executor)
	t.Cleanup(d.close)
	return d
}

func (d *desk) close() {
	if d.ctx.Err() == nil {
		_ = d.Close()
	}
}

// opened is a desk of a new experiment.
func opened(t *testing.T, q *queue, more map[string]any) *desk {
	t.Helper()
	d := openDesk(t, sdk.Execution{Dir: t.TempDir(), Prefix: "a-"}, q.options(more))
	d.must(d.Adopt(t.Context(), nil))
	return d
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func of(name string, amounts ...sdk.Amount) sdk.LeaseRequest {
	return sdk.LeaseRequest{Lease: name, Strategy: "pack", Bundles: []sdk.LeaseBundle{amounts}}
}

func (d *desk) ask(r sdk.LeaseRequest) error {
	return d.Allocate(d.t.Context(), []sdk.LeaseRequest{r})
}

// hears waits for an event of the kind.
func (d *desk) hears(lease string, kind sdk.LeaseEventKind) sdk.LeaseEvent {
	d.t.Helper()
	for {
		select {
		case e := <-d.heard:
			if e.Lease == lease && e.Kind == kind {
				return e
			}
			d.t.Logf("%s %v: %s", e.Lease, e.Kind, e.Why)
		case <-time.After(time.Minute):
			d.t.Fatalf("%s was not %v", lease, kind)
		}
	}
}

func (d *desk) left() []string {
	files, _ := filepath.Glob(filepath.Join(d.store.dir, "*"))
	var names []string
	for _, f := range files {
		if name := filepath.Base(f); name != d.store.record {
			names = append(names, name)
		}
	}
	return names
}

func mustOption(q *queue, name string) string {
	var o map[string]any
	_ = json.Unmarshal(q.options(nil), &o)
	return o[name].(string)
}

// eventually waits for a condition; the test's own time limit ends it.
func eventually(t *testing.T, f func() bool) {
	t.Helper()
	for !f() {
		select {
		case <-t.Context().Done():
			t.Fatal("it did not happen")
		case <-time.After(20 * time.Millisecond):
		}
	}
}
