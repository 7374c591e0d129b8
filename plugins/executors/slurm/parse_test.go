package slurm

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

func TestExpand(t *testing.T) {
	for list, want := range map[string]string{"": "[]", "n1": "[n1]", "n[1-3],m": "[n1 n2 n3 m]",
		"a[08-10,12]-b[1,2]": "[a08-b1 a08-b2 a09-b1 a09-b2 a10-b1 a10-b2 a12-b1 a12-b2]",
		"n[1":                "error", "n[2-1]": "error",
		"n[1-999999999]": "error", "n[1-90000],m[1-90000]": "error", "n[x]": "error"} {
		names, err := expand(list)
		if got := fmt.Sprint(names); err == nil && got != want || err != nil && want != "error" {
			t.Errorf("%s: %s, %v; want %s", list, got, err, want)
		}
	}
}

func TestTimes(t *testing.T) {
	for text, want := range map[string]time.Duration{"90m": 90 * time.Minute, "2d": 48 * time.Hour,
		"30":    30 * time.Minute,
		"30:15": 30*time.Minute + 15*time.Second, "4:00:00": 4 * time.Hour, "1-12": 36 * time.Hour,
		"1-12:30": 36*time.Hour + 30*time.Minute, "1-0:0:1": 24*time.Hour + time.Second,
		"": 0, "x": 0, "-1": 0, "1:2:3:4": 0,
		"1-1:2:3:4": 0, "0": 0, "-5m": 0, "NaNd": 0, "1e9d": 0} {
		if got, ok := parseTime(text); got != want && (ok || want != 0) {
			t.Errorf("%q: %v, %t; want %v", text, got, ok, want)
		}
	}
	if got := slurmTime(36*time.Hour + 90*time.Second); got != "1-12:01:30" {
		t.Error(got)
	}
}

func TestOptions(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:               "<nil>",
		`{"time": "4h"}`:   "<nil>",
		`{"time": "soon"}`: `option "time" is "soon"; allowed: at least a minute`,
		`{"time": "1m"}`:   `option "notice" is 60; allowed: less than time, which is 1m`,
		`{"args": ["--account=lab", "-A", "lab", "--qos", "low", "--exclude=n7"]}`: "<nil>",
		`{"args": ["lab"]}`:                "option \"args\" is \"lab\"; allowed: arguments that begin with -",
		`{"args": ["--account=lab", ":"]}`: `option "args" is ":"`,
		`{"args": ["--job-name=x"]}`: `option "args" is "--job-name=x"; allowed: other arguments; ` +
			`tunehost sets this one itself`,
		`{"args": ["--part=x"]}`: `option "args" is "--part=x"; allowed: other arguments; ` +
			`set the option partition`,
		`{"args": ["-n4"]}`: `option "args" is "-n4"; allowed: other arguments; ` +
			`set resources or placement`,
		`{"args": ["--output=/home/me/my.log"]}`: `option "args" is "--output=/home/me/my.log"; allowed: other ` +
			`arguments; tunehost writes what jobs print into .slurm/NAME.log of the experiment's directory`,
		`{"args": ["-omy.log"]}`:    `option "args" is "-omy.log"; allowed: other arguments; tunehost writes`,
		`{"args": ["--ou=my.log"]}`: `option "args" is "--ou=my.log"; allowed: other arguments; tunehost writes`,
		`{"args": ["--error=e"]}`:   `option "args" is "--error=e"; allowed: other arguments; tunehost writes`,
		`{"args": ["-e", "e"]}`:     `option "args" is "-e"; allowed: other arguments; tunehost writes`,
		`{"args": ["--label"]}`:     `option "args" is "--label"; allowed: other arguments; tunehost writes`,
		`{"args": ["--exclusive", "--export=ALL", "--oversubscribe", "-L", "a"]}`: "<nil>",
		`{"args": ["--mem=4G"]}`: `option "args" is "--mem=4G"; allowed: other arguments; set resources`,
		`{"partition": "a b"}`:   `option "partition" is "a b"; allowed: letters`,
		`{"gpu": "-x"}`:          `option "gpu" is "-x"; `,
		`{"pool": "allocation"}`: `option "pool" is "allocation"; allowed: jobs, because`,
	} {
		if _, err := read([]byte(text)); !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// The cluster lacks the nodes that the user's arguments leave out: no lease can be there.
func TestNodesLeftOut(t *testing.T) {
	for args, want := range map[string]string{
		`"--exclude=n[1-2,07]", "--nice=1"`:    "n3 n4",
		`"--exclude", "n1"`:                    "n07 n2 n3 n4",
		`"-x", "n1", "-xn[3-4]"`:               "n07 n2",
		`"--exclusive", "--export=n1"`:         "n07 n1 n2 n3 n4",
		`"-x"`:                                 "n07 n1 n2 n3 n4",
		`"--exclude=n[1-"`:                     "n07 n1 n2 n3 n4",
		`"--nodelist=n[1-2]", "--exclude=n2"`:  "n1",
		`"-w", "n4"`:                           "n4",
		`"--account", "swift", "-L", "axe"`:    "n07 n1 n2 n3 n4",
		`"--nodelist=./nodes", "--exclude=/x"`: "n07 n1 n2 n3 n4",
	} {
		o, err := read([]byte(`{"args": [` + args + `]}`))
		var left []string
		for _, node := range []string{"n07", "n1", "n2", "n3", "n4"} {
			if o.leaves(node) {
				left = append(left, node)
			}
		}
		if got := strings.Join(left, " "); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", args, got, err, want)
		}
	}
}

// TestShapes checks the arguments of sbatch, and the comment that describes the shape.
func TestShapes(t *testing.T) {
	head := sdk.LeaseBundle{{Name: "cpu", Value: 0.5}, {Name: "memory", Value: 1 << 30}}
	worker := sdk.LeaseBundle{{Name: "cpu", Value: 4}, {Name: "gpu", Value: 2}, {Name: "memory", Value: 3<<30 + 1}}
	for _, c := range []struct{ strategy, want string }{
		{pack, "--nodes=1 --ntasks=1 --cpus-per-task=1 --mem=1024M : " +
			"--ntasks=2 --cpus-per-task=4 --mem-per-cpu=769M --gpus-per-task=a100:2"},
		{spread, "--nodes=1 --ntasks=1 --cpus-per-task=1 --mem=1024M : " +
			"--ntasks=2 --cpus-per-task=4 --mem-per-cpu=769M --gpus-per-task=a100:2 --spread-job"},
		{strictSpread, "--nodes=1 --ntasks=1 --cpus-per-task=1 --mem=1024M : " +
			"--nodes=2 --ntasks=2 --ntasks-per-node=1 --cpus-per-task=4 --mem=3073M --gres=gpu:a100:2"},
		{strictPack, "--nodes=1 --ntasks=3 --cpus-per-task=4 --mem=7170M --gres=gpu:a100:4"},
	} {
		r := &sdk.LeaseRequest{Strategy: c.strategy, Bundles: []sdk.LeaseBundle{head, worker, worker}}
		s, err := shapeOf(&options{}, r)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, part := range s.components() {
			got = append(got, strings.Join(part.sizes("gpu:a100"), " "))
		}
		if strings.Join(got, " : ") != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.strategy, strings.Join(got, " : "), c.want)
		}
		back, ok := fromComment("the site's words; " + s.comment() + " and more")
		if !ok || back.strategy != c.strategy || fmt.Sprint(back.gpus()) != "[0 2 2]" {
			t.Errorf("%s: %v, %t", s.comment(), back, ok)
		}
	}
	for _, bad := range []sdk.Amount{{Name: "cpu", Value: 1e300}, {Name: "a b", Value: 1}} {
		if _, err := shapeOf(&options{}, &sdk.LeaseRequest{Bundles: []sdk.LeaseBundle{{bad}}}); err == nil {
			t.Error(bad)
		}
	}
	for _, bad := range []string{"", "tunehost:", "tunehost:pack:", "tunehost:pack:0*1c1g",
		"tunehost:pack:999999999*1c1g"} {
		if s, ok := fromComment(bad); ok {
			t.Errorf("%q: %v", bad, s)
		}
	}
}

// TestPlaces: the bundles of a job on several nodes, as scontrol describes it.
func TestPlaces(t *testing.T) {
	parts, err := portionsOf(" JOB_GRES=gpu:a100:4 Nodes=n[1,3] CPU_IDs=0-1 Mem=64 GRES=gpu:a100:1(IDX:1)"+
		" Nodes=n2 CPU_IDs=0-3 Mem=64 GRES=other:3(CNT:3),gpu:a100:2(IDX:0,3) MinCPUsNode=1", "gpu:a100")
	if err != nil {
		t.Fatal(err)
	}
	list, err := place([]int{1, 1, 1, 1}, []string{"n1", "n2", "n3"}, parts)
	if got := fmt.Sprint(list); err != nil || got != "[{n1 [1] } {n2 [0] } {n2 [3] } {n3 [1] }]" {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := place([]int{3, 1, 1, 1}, []string{"n1", "n2", "n3"}, parts); err == nil {
		t.Error("n1 has one GPU")
	}
}

func TestNodes(t *testing.T) {
	list, err := parseNodes("n1   |10.0.0.1|2/5/1/8|4096|512|gpu:a100:2(S:0)|gpu:a100:1(IDX:0)|mixed|none|\n" +
		"n1   |10.0.0.1|2/5/1/8|4096|512|gpu:a100:2(S:0)|gpu:a100:1(IDX:0)|mixed|none|\n" +
		"n2|10.0.0.2|0/0/8/8|4096|0|(null)|gpu:0|down*|disk | full|\n")
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	if got := fmt.Sprint(list[0]); got !=
		"{n1 10.0.0.1 mixed none [{cpu 8} {gpu 2} {memory 4.294967296e+09}] "+
			"[{cpu 5} {gpu 1} {memory 3.758096384e+09}]}" {
		t.Error(got)
	}
	if !list[1].down() || list[1].reason != "disk | full" || list[0].down() {
		t.Error(list)
	}
	if _, err := parseNodes("<html>\n"); err == nil {
		t.Error("no error")
	}
}

// The environment of commands names the cluster, and has no filters and no sizes of another job.
func TestEnvironment(t *testing.T) {
	got := environment([]string{"PATH=/bin", "SLURM_CONF=/c", "SLURM_NTASKS=7", "SQUEUE_STATES=RUNNING",
		"SBATCH_ACCOUNT=lab",
		"SBATCH_ARRAY_INX=1-9", "SBATCH_WAIT=1", "TUNEHOST_X=1"})
	if want := "[PATH=/bin SLURM_CONF=/c SBATCH_ACCOUNT=lab SLURM_TIME_FORMAT=%s LC_ALL=C]"; fmt.Sprint(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Listings are frequent after a change, and rare later or if each takes long.
func TestPace(t *testing.T) {
	var p pace
	p.begin()
	const quick, long = time.Millisecond, time.Second
	if got := p.next(quick, waits); got != soonest {
		t.Errorf("the first wait is %v", got)
	}
	if got := p.next(long, waits); got != shareSoon*long {
		t.Errorf("after a long listing it is %v", got)
	}
	for range 30 {
		p.next(quick, waits)
	}
	if got := p.next(quick, waits); got != waits {
		t.Errorf("the last wait is %v", got)
	}
	if got := p.next(long, waits); got != slowest {
		t.Errorf("after a long listing it is %v", got)
	}
	p.begin()
	if got := p.next(quick, waits); got != soonest {
		t.Errorf("after something was done it is %v", got)
	}
}

// What is allowed is said such that the user knows what to take out.
func TestProgramBesideSend(t *testing.T) {
	_, err := read([]byte(`{"send": true, "program": "/opt/tunehost"}`))
	want := "allowed: no program with send: true, which chooses the path itself"
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	if _, err := read([]byte(`{"time": "1m", "notice": 20}`)); err != nil { // docs/SLURM.md
		t.Error(err)
	}
}

// srun says nothing while a full allocation has no room for a step, and names a reason only after minutes.
func TestStepWaits(t *testing.T) {
	for words, want := range map[string]string{
		"": "Slurm starts the step once the allocation has room for it",
		"srun: Job 1 step creation temporarily disabled, retrying (Requested nodes are busy)": "Slurm: Requested " +
			"nodes are busy (other steps of the allocation use what it needs)",
	} {
		if got := stepWhy(words); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}
