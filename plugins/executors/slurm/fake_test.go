package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// fakeCommands are commands of a Slurm that misbehaves: the file NAME.does has what a command does the next
// time. Jobs are lines of the file jobs, as squeue prints them.
var fakeCommands = map[string]string{
	"sbatch": `
id=1
while ! mkdir id.$id 2>/dev/null; do id=$((id + 1)); done
indices=
for a in "$@"; do
  case $a in --job-name=*) name=${a#*=};; --comment=*) comment=${a#*=};; --array=*) indices=${a#*=};; esac
done
env > exported
echo "$name $indices" >> submissions
cat > script.$id
submit() {
  [ -n "$indices" ] || echo "$id|$id|$name|PENDING|Priority||NONE|N/A|$comment|" >> jobs
  for i in $(echo $indices | tr , ' '); do
    echo "$id|${id}_$i|$name|PENDING|Priority||NONE|N/A|$comment|" >> jobs
  done
}
if [ -n "$indices" ] && [ -e arrays.refused ]; then cat arrays.refused >&2; exit 1; fi
case $does in
late) submit; exec sleep 60;;
rubbish) submit; echo "Welcome to the cluster!"; exit;;
noise) submit; echo "Welcome to the cluster!"; echo "$id;main";  exit;;
never) exec sleep 60;;
?*) echo "$does" >&2; exit 1;;
esac
submit; echo $id`,
	"squeue": `
case $does in
rubbish) echo "<html>503</html>"; exit;;
empty) exit;;
cut) echo "` + squeueHeader + `"; head -c 20 jobs; exit;;
missing) echo "` + squeueHeader + `"; exit;;
?*) echo "$does" >&2; exit 1;;
esac
echo "` + squeueHeader + `"; cat jobs`,
	"scancel": `
[ -z "$does" ] || { echo "$does" >&2; exit 1; }
for id in "$@"; do
  if ! grep -q "^[0-9]*|$id|" jobs; then
    echo "scancel: error: Kill job error on job id $id: Invalid job id specified" >&2
    bad=1
  fi
  sed -i "s/^\([0-9]*|$id\)|\(.*\)|\(PENDING\|RUNNING\)|/\1|\2|CANCELLED|/" jobs
done
exit $bad`,
	"scontrol": `
[ -z "$does" ] || { echo "$does" >&2; exit 1; }
for id; do :; done
case $id in
*_*)
  grep -q "|$id|" jobs || { echo "Job $id not found"; exit 1; }
  of=$(grep "|$id|" jobs | cut -d'|' -f1)
  echo "JobId=$of ArrayJobId=${id%_*} ArrayTaskId=${id#*_} JobState=FAILED ExitCode=0:15"
  exit;;
esac
grep -q "^$id|" jobs || { echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1; }
echo "JobId=$id JobState=$(grep "^$id|" jobs | cut -d'|' -f4) Reason=None ExitCode=0:15"`,
	"sinfo": `exit 1`,
	"sacct": `exit 1`,
}

// bench is an executor on a Slurm that misbehaves.
type bench struct {
	*executor
	t   *testing.T
	dir string

	mu    sync.Mutex
	heard []string
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, dir: t.TempDir()}
	for name, text := range fakeCommands {
		b.write(name, fmt.Sprintf("#!/bin/sh\ncd %s\n"+
			"does=$(cat %s.does 2>/dev/null); rm -f %[2]s.does\n%[3]s\n", quote(b.dir), name, text), 0o755)
	}
	b.write("jobs", "", 0o600)
	t.Setenv("PATH", b.dir+":"+os.Getenv("PATH"))
	o, err := read([]byte(`{"command_timeout": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	b.executor = newExecutor(sdk.Execution{Prefix: "th-a-", Dir: b.dir}, o, b.hear)
	t.Cleanup(func() { b.Close() })
	b.must(b.Adopt(t.Context(), nil))
	return b
}

func (b *bench) write(name, text string, mode os.FileMode) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), mode); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) read(name string) string {
	text, err := os.ReadFile(filepath.Join(b.dir, name))
	b.must(err)
	return string(text)
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) hear(events ...sdk.LeaseEvent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range events {
		text := e.Lease + " " + e.Kind.String()
		for _, g := range e.Bundles {
			text += " " + g.Node
		}
		if e.Why != "" {
			text += ": " + e.Why
		}
		b.heard = append(b.heard, text)
	}
}

// does sets what a command does the next time.
func (b *bench) does(name, what string) { b.write(name+".does", what, 0o600) }

// allocate requests a lease.
func (b *bench) allocate(lease string) error {
	return b.Allocate(b.t.Context(), []sdk.LeaseRequest{{Lease: lease, Strategy: pack,
		Bundles: []sdk.LeaseBundle{{{Name: "cpu", Value: 1}}}}})
}

// sets changes the jobs.
func (b *bench) sets(old, now string) {
	b.t.Helper()
	text := b.read("jobs")
	if !strings.Contains(text, old) {
		b.t.Fatalf("%q is not in %s", old, text)
	}
	b.write("jobs", strings.ReplaceAll(text, old, now), 0o600)
}

// looks makes the executor look at the jobs now.
func (b *bench) looks() {
	b.must(b.take(b.t.Context()))
	defer b.pass()
	b.look()
}

// says compares the events since the last call.
func (b *bench) says(want ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if got := strings.Join(b.heard, "\n"); got != strings.Join(want, "\n") {
		b.t.Errorf("heard:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
	b.heard = nil
}

// has compares the states of all jobs.
func (b *bench) has(want ...string) {
	b.t.Helper()
	var got []string
	for line := range strings.Lines(b.read("jobs")) {
		f := strings.Split(line, "|")
		got = append(got, f[2]+" "+f[3])
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.t.Errorf("the jobs are %q, want %q", got, want)
	}
}

const queued = "th-a-1 pending: Slurm: Priority (jobs with a higher priority wait, too)"

// runs requests a lease and waits until it is granted.
func (b *bench) runs() {
	b.t.Helper()
	b.must(b.allocate("th-a-1"))
	b.sets("PENDING|Priority|", "RUNNING|None|n1")
	b.looks()
	b.says("th-a-1 granted n1")
}
