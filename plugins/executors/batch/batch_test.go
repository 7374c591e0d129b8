package batch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/internal/toolchain"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// B-130: a lease is one job, and nothing is left after its release.
func TestLease(t *testing.T) {
	q := newQueue(t)
	d := opened(t, q, nil)
	d.must(d.ask(of("a-1", sdk.Amount{Name: "cpu", Value: 2})))
	host, _ := os.Hostname()
	if e := d.hears("a-1", sdk.LeaseGranted); len(e.Bundles) != 1 || e.Bundles[0].Node != host || !e.Until.IsZero() {
		t.Errorf("%+v", e)
	}
	d.must(d.ask(of("a-1", sdk.Amount{Name: "cpu", Value: 2})))
	if n := q.jobs(); n != 1 {
		t.Errorf("%d jobs", n)
	}
	d.must(d.Release(t.Context(), []string{"a-1", "a-7"}))
	if n := q.jobs(); n != 0 || len(d.left()) != 0 {
		t.Errorf("%d jobs, and %q", n, d.left())
	}
}

// After a lost or unreadable answer of submit, or a command that hangs, there is one job.
func TestOnce(t *testing.T) {
	for _, fault := range []string{"submit-lost", "submit-rubbish", "submit-fails", "submit-slow"} {
		for _, listed := range []bool{true, false} {
			t.Run(fmt.Sprint(fault, " ", listed), func(t *testing.T) {
				t.Parallel()
				q := newQueue(t)
				more := map[string]any{"timeout": 2.0}
				if !listed {
					more["submit"] = strings.Replace(string(mustOption(q, "submit")), "{name}", "job", 1)
					more["list"] = ""
				}
				d := opened(t, q, more)
				q.fails(fault)
				if err := d.ask(of("a-1")); err == nil {
					t.Fatal("no error of Allocate")
				}
				d.must(d.ask(of("a-1")))
				d.hears("a-1", sdk.LeaseGranted)
				d.must(d.Release(t.Context(), []string{"a-1"}))
				eventually(t, func() bool { return q.jobs() == 0 })
			})
		}
	}
}

// B-134: the job of a lost answer is found when the next process adopts, and two jobs become one.
func TestAdoptsUnknown(t *testing.T) {
	q := newQueue(t)
	d := opened(t, q, nil)
	q.fails("submit-lost")
	if d.ask(of("a-1")) == nil {
		t.Fatal("no error of Allocate")
	}
	eventually(t, func() bool { return d.store.note("a-1"+begunSuffix+"/id") != nil })
	q.run("submit", "a-1", "1", "1", filepath.Join(d.store.dir, "a-1.sh")) // as a submit that was late
	d.close()
	next := openDesk(t, d.execution, q.options(nil))
	next.must(next.Adopt(t.Context(), []string{"a-1", "a-9"}))
	next.hears("a-9", sdk.LeaseLost)
	next.hears("a-1", sdk.LeaseGranted)
	eventually(t, func() bool { return q.jobs() == 1 })
	next.must(next.Adopt(t.Context(), nil))
	eventually(t, func() bool { return q.jobs() == 0 })
}

// B-135: a permanent refusal has the batch system's words, and a request that no job can satisfy is
// refused.
func TestRefuses(t *testing.T) {
	q := newQueue(t)
	d := opened(t, q, nil)
	cpu := func(n float64) sdk.Amount { return sdk.Amount{Name: "cpu", Value: n} }
	for name, c := range map[string]struct {
		request sdk.LeaseRequest
		want    string
	}{
		"a-1": {of("a-1", cpu(1e9)), "queue: Job exceeds queue resource limits"},
		"a-2": {of("a-2", sdk.Amount{Name: "gpu", Value: 1}), "a trial asks for gpu 1, and submit has no {gpu}: "},
		"a-3": {of("a-3", sdk.Amount{Name: "licence", Value: 1}), "a trial asks for licence 1, and submit has " +
			"no {licence}: "},
		"a-4": {of("a-4", sdk.Amount{Name: "gpu", Value: 0.5}), "gpu 0.5 is not possible: "},
		"a-5": {sdk.LeaseRequest{Lease: "a-5", Strategy: "strict_pack", Bundles: []sdk.LeaseBundle{{cpu(1)}, {cpu(1)}}},
			"strict_pack is not possible: "},
		"a-6": {sdk.LeaseRequest{Lease: "a-6", Strategy: "pack", Bundles: []sdk.LeaseBundle{{cpu(1)}, {cpu(2)}}},
			"the bundles differ, "},
	} {
		d.must(d.ask(c.request))
		if e := d.hears(name, sdk.LeaseRefused); !strings.HasPrefix(e.Why, c.want) {
			t.Errorf("%s: %s", name, e.Why)
		}
	}
	if len(d.left()) != 0 {
		t.Errorf("%q are left", d.left())
	}
}

// Unreadable answers of a batch system for a while neither lose nor end a lease.
func TestFaultsOfStatus(t *testing.T) {
	q := newQueue(t)
	d := opened(t, q, map[string]any{"timeout": 1.0})
	d.must(d.ask(of("a-1")))
	d.hears("a-1", sdk.LeaseGranted)
	q.fails("status-rubbish", "status-fails", "status-slow", "status-silent", "status-silent", "status-silent",
		"cancel-fails", "cancel-rubbish")
	eventually(t, func() bool { return !q.owes("status") })
	if err := d.Release(t.Context(), []string{"a-1"}); err == nil || !strings.Contains(err.Error(),
		"exited with status 3: queue: the server does not answer") {
		t.Error(err)
	}
	if left := d.left(); slices.Contains(left, "a-1"+scriptSuffix) { // it has the lease's secret
		t.Errorf("%q are left while its job cannot be cancelled", left)
	}
	d.must(d.Adopt(t.Context(), []string{"a-1"})) // it still counts
	d.hears("a-1", sdk.LeaseGranted)
}

// A status that prints nothing is not understood, and the message says what to do if it means the end; it counts as the
// end where the pattern of the system says so. Then the job may run nevertheless, and is cancelled.
func TestSilentStatus(t *testing.T) {
	q := newQueue(t)
	d := opened(t, q, map[string]any{"status": "true {id}", "poll": 0.2})
	d.must(d.ask(of("a-1")))
	for !strings.Contains(d.hears("a-1", sdk.LeasePending).Why, `true printed nothing; if it does so for a job that `) {
		t.Log("the host hears why it waits later")
	}
	d.must(d.Release(t.Context(), []string{"a-1"}))
	d = opened(t, q, map[string]any{"ended": `job_state = F|\A\z`})
	d.must(d.ask(of("a-2")))
	d.hears("a-2", sdk.LeaseGranted)
	q.fails("status-mute", "status-rubbish", "status-killed", "status-killed", "status-rubbish")
	eventually(t, func() bool { return !q.owes("status") || d.lease("a-2") == nil })
	if d.lease("a-2") == nil {
		t.Fatal("it is lost with one answer without words, or with a command that was killed")
	}
	q.fails("status-silent", "status-silent")
	d.hears("a-2", sdk.LeaseLost)
	eventually(t, func() bool { return q.jobs() == 0 })
}

// A cancel that fails without a word has not cancelled the job, also where silence of status means its end.
func TestSilentCancel(t *testing.T) {
	q := newQueue(t)
	d := opened(t, q, map[string]any{"ended": `job_state = F|^$`})
	d.must(d.ask(of("a-1")))
	d.hears("a-1", sdk.LeaseGranted)
	q.fails("cancel-mute", "list-mute")
	if err := d.Release(t.Context(), []string{"a-1"}); err == nil {
		t.Error("it is said to be released")
	}
	if _, err := d.listed(t.Context(), "a-1"); err == nil {
		t.Error("a list that fails is said to be empty")
	}
}

// B-133: a job that ends by itself is a lost lease; the reason names the node on which it was.
func TestEndsOnANode(t *testing.T) {
	q := newQueue(t)
	d := opened(t, q, nil)
	d.must(d.ask(of("a-1")))
	node := d.hears("a-1", sdk.LeaseGranted).Bundles[0].Node
	q.run("cancel", "1.queue")
	if e := d.hears("a-1", sdk.LeaseLost); e.Why != "job 1.queue on the node "+node+" has ended" {
		t.Error(e.Why)
	}
}

// B-133: a job that ends by itself is a lost lease, with its last words.
func TestEnds(t *testing.T) {
	q := newQueue(t)
	d := opened(t, q, map[string]any{"launch": "sh -c 'exit 3'", "submit": program(t) + " " + q.dir +
		" submit {name} {nodes} {cpu} {script}"})
	// The queue keeps the output; a real one writes it to {log}.
	d.must(os.WriteFile(filepath.Join(d.store.dir, "a-1.log"), []byte("begin\nout of licences\n"), 0o600))
	two := of("a-1")
	two.Bundles = append(two.Bundles, two.Bundles[0])
	d.must(d.ask(two))
	if e := d.hears("a-1", sdk.LeaseLost); e.Why != "job 1.queue has ended; the last that it printed: out of licences" {
		t.Error(e.Why)
	}
}

// B-135: a setup that fails ends the lease, and says which line has failed, with what status and last words.
func TestSetupFails(t *testing.T) {
	q := newQueue(t)
	d := opened(t, q, map[string]any{"setup": "echo begin\necho no cuda here >&2\nsh -c 'exit 3'\necho end"})
	d.must(d.ask(of("a-1")))
	want := "job 1.queue has ended: the setup failed at: sh -c 'exit 3' (exit status 3)" + here(t) + ": no cuda here"
	if e := d.hears("a-1", sdk.LeaseLost); e.Why != want {
		t.Error(e.Why)
	}
}

// here names the node of jobs, which are processes of this machine.
func here(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return " on the node " + name
}

// Each shell says how a setup has failed: bash at which command, others at which line, if all lines are commands of
// their own. Where the node does not see the executor's folder, an agent tells the host.
func TestSetupFailsInShells(t *testing.T) {
	toolchain.Programs(t, "sh", "bash")
	for setup, want := range map[string][2]string{ // of sh and of bash
		"true\nfalse\necho unreached": {"the setup failed at: false (exit status 1)@"},
		"echo no licence >&2; exit 3": {"the setup failed at: echo no licence >&2; exit 3 (exit status 3)@: " +
			"no licence"},
		"ls\nno-such-command-at-all x": {"the setup failed at: no-such-command-at-all x (exit status 127)@: " +
			"no-such-command-at-all: "},
		"if true; then\n\tfalse\nfi": {"the setup failed (exit status 1)@",
			"the setup failed at: false (exit status 1)@"},
		"echo hi's": {"the setup failed (exit status 2)@: Syntax error: Unterminated quoted string",
			"the setup failed (exit status 2)@: unexpected EOF while looking for matching `''"},
		"(\necho hi\n": {"the setup failed (exit status 2)@: "},
	} {
		for i, shell := range []string{"sh", "bash"} {
			dir := t.TempDir()
			program := filepath.Join(dir, "agent")
			text := "#!/bin/sh\necho \"$TUNEHOST_AGENT_FAILURE|$TUNEHOST_AGENT|$*\" > " + dir + "/told\n"
			if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
			j := job{plan: &plan{setup: setup, shell: "/bin/sh"}, dir: dir, lease: "a-1", secret: "s",
				agent: &sdk.Agent{Path: program}}
			for _, shared := range []bool{true, false} {
				told := filepath.Join(dir, "a-1.failed")
				if err := os.WriteFile(filepath.Join(dir, "a-1.sh"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if !shared {
					j.dir, told = filepath.Join(dir, "elsewhere"), filepath.Join(dir, "told")
				}
				cmd := exec.CommandContext(t.Context(), shell)
				cmd.Stdin, cmd.Env = strings.NewReader(j.script(nil)), append(os.Environ(), "TMPDIR="+dir)
				out, err := cmd.CombinedOutput()
				got, _ := os.ReadFile(told)
				want := strings.ReplaceAll(cmp.Or(want[i], want[0]), ")@", ")"+here(t))
				if err == nil || !strings.HasPrefix(string(got), want) || !strings.Contains(string(out), want) ||
					!shared && !strings.HasSuffix(string(got), "|s|agent\n") {
					t.Errorf("%s, %q: %v, told %q, want %q; printed %s", shell, setup, err, got, want, out)
				}
			}
			if left, _ := filepath.Glob(dir + "/tmp.*"); len(left) > 0 {
				t.Error("left:", left)
			}
		}
	}
}

// A setup that exits in a login shell ends the job with its status: ~/.bash_logout is no part of it.
func TestSetupExitsInALoginShell(t *testing.T) {
	toolchain.Programs(t, "bash")
	dir := t.TempDir()
	for name, text := range map[string]string{"a-1.sh": "", ".bash_logout": "cat /no/such; false\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for setup, want := range map[string]string{
		"true\nexit 7": "the setup failed at: exit 7 (exit status 7)" + here(t) + "\n",
		"if ! test -d /no/such; then\nexit 7\nfi": "the setup failed at: exit 7 (exit status 7)" + here(t) + "\n",
	} {
		_ = os.RemoveAll(filepath.Join(dir, "a-1.begun"))
		j := job{plan: &plan{setup: setup, shell: "/bin/bash"}, dir: dir, lease: "a-1", secret: "s",
			agent: &sdk.Agent{}}
		cmd := exec.CommandContext(t.Context(), "bash", "-l")
		cmd.Stdin, cmd.Env = strings.NewReader(j.script(nil)), append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
		out, _ := cmd.CombinedOutput()
		got, _ := os.ReadFile(filepath.Join(dir, "a-1.failed"))
		if cmd.ProcessState.ExitCode() != 7 || string(got) != want {
			t.Errorf("%q: %v, %q, want %q; printed %s", setup, cmd.ProcessState, got, want, out)
		}
	}
}

// A setup with an open quote is refused before a job is submitted.
func TestOpenSetup(t *testing.T) {
	toolchain.Programs(t, "sh", "bash")
	_, err := read([]byte(`{"system": "pbs", "setup": "echo hi's"}`))
	const want = `option "setup" is "echo hi's"; allowed: lines of shell; /bin/sh says`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	if _, err := read([]byte(`{"system": "pbs", "setup": "x=(a b)"}`)); err != nil {
		t.Error(err) // the sh of the nodes may be bash
	}
}

// The setup runs on each node of a job with several, and where it fails, an agent of that bundle tells the host the
// line. Nodes that do not see the executor's folder have the script from the job's environment, which no program sees.
func TestSetupOfSeveralNodes(t *testing.T) {
	toolchain.Programs(t, "sh", "bash")
	for _, shell := range []string{"/bin/sh", "/bin/bash"} {
		for _, shared := range []bool{true, false} {
			dir := t.TempDir()
			program, launch := filepath.Join(dir, "agent"), filepath.Join(dir, "launch")
			put := func(name, text string) {
				if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			text := "#!/bin/sh\nn=$TUNEHOST_AGENT_BUNDLE\n" +
				"echo \"$SETUP|$TUNEHOST_AGENT_FAILURE|$TUNEHOST_AGENT|$TUNEHOST_EACH|$*\" > " + dir + "/told.$n\n"
			put(program, text)
			put(launch, "#!/bin/sh\nfor r in 0 1 2; do PMI_RANK=$r \"$@\"; done\n")
			j := job{plan: &plan{setup: "SETUP=done; export SETUP\n[ \"$PMI_RANK\" != 1 ]\necho ready", shell: shell},
				dir: dir, lease: "a-1", secret: "it's secret",
				agent: &sdk.Agent{Path: program, SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(text)))}}
			if !shared {
				j.dir = filepath.Join(dir, "elsewhere")
			}
			put(filepath.Join(dir, "a-1.sh"), "")
			put(filepath.Join(dir, "a-1.bundle.sh"), j.onEach())
			cmd := exec.CommandContext(t.Context(), shell)
			cmd.Stdin, cmd.Env = strings.NewReader(j.script([]string{launch})), append(os.Environ(), "TMPDIR="+dir)
			out, _ := cmd.CombinedOutput()
			failed := `the setup failed at: [ "$PMI_RANK" != 1 ] (exit status 1)` + here(t)
			want := map[string]string{"told.0": "done||it's secret||agent\n", "told.2": "done||it's secret||agent\n"}
			if shared {
				want["a-1.failed"] = failed + "\n"
			} else {
				want["told.1"] = "done|" + failed + "|it's secret||agent\n"
			}
			for name, text := range want {
				if got, _ := os.ReadFile(filepath.Join(dir, name)); string(got) != text {
					t.Errorf("%s, shared %v: %s is %q, want %q; printed %s", shell, shared, name, got, text, out)
				}
			}
		}
	}
}

// Where launch does not pass the variable on, the job says so.
func TestLaunchLosesTheScript(t *testing.T) {
	dir := t.TempDir()
	launch := filepath.Join(dir, "launch")
	if err := os.WriteFile(launch, []byte("#!/bin/sh\nexec env -i \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	j := job{plan: &plan{shell: "/bin/sh"}, dir: dir + "/elsewhere", lease: "a-1"}
	cmd := exec.CommandContext(t.Context(), "/bin/sh")
	cmd.Stdin = strings.NewReader(j.script([]string{launch}))
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "mpirun -x TUNEHOST_EACH") {
		t.Error(err, string(out))
	}
}

// B-133: the last words of a job are those at the end of its output, however long the output or the line is.
func TestLastWords(t *testing.T) {
	d := opened(t, newQueue(t), nil)
	long := strings.Repeat("progress\n", maxNote)
	for text, want := range map[string]string{
		"":                                   "",
		"begin\nout of  licences\n\n":        "out of licences",
		long + "killed: out of memory\n":     "killed: out of memory",
		strings.Repeat("x", maxSaid) + "why": "…" + strings.Repeat("x", maxSaid-3) + "why",
	} {
		d.must(os.WriteFile(filepath.Join(d.store.dir, "a-1.log"), []byte(text), 0o600))
		if got := d.store.lastLine("a-1"); got != want {
			t.Errorf("of %d bytes: %q, want %q", len(text), got, want)
		}
	}
}

// B-132
func TestWallTime(t *testing.T) {
	q := newQueue(t)
	submit := program(t) + " " + q.dir + " submit {name} {nodes} {cpu} {script} {time}"
	d := opened(t, q, map[string]any{"time": "10m", "notice": 599.99, "submit": submit})
	d.must(d.ask(of("a-1")))
	granted := d.hears("a-1", sdk.LeaseGranted)
	if e := d.hears("a-1", sdk.LeaseEnding); granted.Until.IsZero() || !e.Until.Equal(granted.Until) {
		t.Errorf("%v, %v", granted.Until, e.Until)
	}
}

// All bundles of a lease are one job, each with its number.
func TestGang(t *testing.T) {
	q := newQueue(t)
	d := opened(t, q, nil)
	r := of("a-1")
	r.Bundles = []sdk.LeaseBundle{nil, nil, nil}
	d.must(d.ask(r))
	if e := d.hears("a-1", sdk.LeaseGranted); len(e.Bundles) != 3 || q.jobs() != 1 {
		t.Errorf("%+v", e)
	}
	d.must(d.Release(t.Context(), []string{"a-1"}))
	if len(d.left()) != 0 {
		t.Errorf("%q are left", d.left())
	}
}

// Bundles that must be on different nodes, and are not, are refused.
func TestCrowded(t *testing.T) {
	q := newQueue(t)
	d := opened(t, q, nil)
	d.must(os.WriteFile(filepath.Join(q.dir, "same-node"), nil, 0o600))
	r := of("a-1")
	r.Bundles, r.Strategy = []sdk.LeaseBundle{nil, nil}, "strict_spread"
	d.must(d.ask(r))
	if e := d.hears("a-1", sdk.LeaseRefused); !strings.HasPrefix(e.Why, "several bundles are on the node ") {
		t.Error(e.Why)
	}
	if n := q.jobs(); n != 0 {
		t.Errorf("%d jobs", n)
	}
}

// agent is a program that writes what it was started with.
func agent(t *testing.T, dir string) *sdk.Agent {
	t.Helper()
	path := filepath.Join(dir, "agent")
	text := strings.ReplaceAll(`#!/bin/sh
echo $$ > DIR/pid.$TUNEHOST_AGENT_BUNDLE
echo "$1 $TUNEHOST_AGENT $TUNEHOST_AGENT_BUNDLE $TUNEHOST_TEST_TOKEN" > DIR/started.$TUNEHOST_AGENT_BUNDLE
exec sleep 1000
`, "DIR", dir)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sha256sum", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	return &sdk.Agent{Path: path, SHA256: string(out[:64])}
}

// An agent starts on each bundle; its secret is in no command line, and no variable of the host gets
// there.
func TestAgents(t *testing.T) {
	t.Setenv("TUNEHOST_TEST_TOKEN", "of-the-user")
	q, dir := newQueue(t), t.TempDir()
	d := openDesk(t, sdk.Execution{Dir: t.TempDir(), Prefix: "a-", Agent: agent(t, dir)}, q.options(nil))
	d.must(d.Adopt(t.Context(), nil))
	r := of("a-1")
	r.Bundles, r.Agent = []sdk.LeaseBundle{nil, nil}, "s3cret="
	d.must(d.ask(r))
	d.hears("a-1", sdk.LeaseGranted)
	for i := range 2 {
		var text []byte
		eventually(t, func() bool {
			text, _ = os.ReadFile(fmt.Sprint(dir, "/started.", i))
			return len(text) > 0
		})
		if got, want := string(text), fmt.Sprintf("agent s3cret= %d \n", i); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, name := range d.left() {
		if info, err := os.Stat(filepath.Join(d.store.dir, name)); err == nil && !info.IsDir() &&
			strings.Contains(name, ".sh") && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("others can read %s: %v", name, info.Mode())
		}
	}
	record, _ := os.ReadFile(filepath.Join(d.store.dir, d.store.record))
	if strings.Contains(string(record), "s3cret") {
		t.Error("the record has the secret")
	}
	d.must(d.Release(t.Context(), []string{"a-1"}))
	for i := range 2 {
		text, err := os.ReadFile(fmt.Sprint(dir, "/pid.", i))
		d.must(err)
		eventually(t, func() bool { // a process that has ended and was not waited for has no command line
			line, _ := os.ReadFile("/proc/" + strings.TrimSpace(string(text)) + "/cmdline")
			return len(line) == 0
		})
	}
}

// A node with another version of the program starts no agent.
func TestOtherAgent(t *testing.T) {
	q, dir := newQueue(t), t.TempDir()
	a := agent(t, dir)
	a.SHA256 = strings.Repeat("0", 64)
	d := openDesk(t, sdk.Execution{Dir: t.TempDir(), Prefix: "a-", Agent: a}, q.options(nil))
	d.must(d.Adopt(t.Context(), nil))
	r := of("a-1")
	r.Agent = "s3cret="
	d.must(d.ask(r))
	d.hears("a-1", sdk.LeaseLost)
	if _, err := os.Stat(dir + "/started.0"); err == nil {
		t.Error("the agent was started")
	}
}

// Calls end with their context.
func TestCancelled(t *testing.T) {
	q := newQueue(t)
	d := opened(t, q, nil)
	q.fails("submit-slow")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		eventually(t, func() bool { return !q.owes("submit") })
		cancel()
	}()
	if err := d.Allocate(ctx, []sdk.LeaseRequest{of("a-1")}); err == nil {
		t.Error("no error")
	}
}

// Two leases cannot have the same job: if submit prints the id of another lease's job, the call
// fails.
func TestJobOfAnother(t *testing.T) {
	q := newQueue(t)
	d := opened(t, q, map[string]any{"submit": "echo 23 {script}", "id": `^(\d+)`, "list": "",
		"status": "echo job_state = Q {id}", "cancel": "true {id}"})
	d.must(d.ask(of("a-1")))
	for range 2 {
		err := d.ask(of("a-2"))
		if err == nil || !strings.HasPrefix(err.Error(), "job 23 already belongs to lease a-1, ") {
			t.Fatal(err)
		}
	}
	if id := d.idOf("a-2"); id != "" {
		t.Error(id)
	}
}

// Foreign files in the place of a lease's files are an error with their names. Files that a job has left
// there are removed, so that the next job does not end at once.
func TestPlaceOfFilesTaken(t *testing.T) {
	q := newQueue(t)
	d := opened(t, q, nil)
	for _, suffix := range []string{scriptSuffix, begunSuffix, logSuffix, placeSuffix + "0"} {
		path := filepath.Join(d.store.dir, "a-1"+suffix)
		d.must(os.Symlink(t.TempDir(), path))
		if err := d.ask(of("a-1")); err == nil || !strings.HasPrefix(err.Error(), path+" is a link: ") {
			t.Errorf("%s: %v", suffix, err)
		}
		d.must(os.Remove(path))
	}
	d.must(os.MkdirAll(filepath.Join(d.store.dir, "a-1"+begunSuffix), 0o700))
	d.must(d.ask(of("a-1")))
	d.hears("a-1", sdk.LeaseGranted)
	d.must(d.Release(t.Context(), []string{"a-1"}))
}
