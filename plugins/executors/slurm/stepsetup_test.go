package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// endsAs returns what the host hears of a step in an allocation whose srun is a script.
func endsAs(t *testing.T, srun, setup string) sdk.LeaseEvent {
	t.Helper()
	allocated(t, 300, 5000)
	bin, _, _ := strings.Cut(os.Getenv("PATH"), ":")
	if err := os.WriteFile(filepath.Join(bin, "srun"), []byte(srun), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLURMD_NODENAME", "n7")
	e, told := withStep(t, setup)
	pid := e.leases["th-1"].pid
	await(t, "the end of srun", func() bool { _, err := os.Stat(fmt.Sprint("/proc/", pid)); return err != nil })
	e.look()
	if len(*told) != 1 {
		t.Fatalf("%+v", *told)
	}
	return (*told)[0]
}

// runsStep is an srun whose only task runs at once.
const runsStep = `#!/bin/bash
while [ "$1" != bash ]; do shift; done
export SLURM_PROCID=0 SLURM_LOCALID=0
"$@"
status=$?
if [ $status != 0 ]; then echo "srun: error: n7: task 0: Exited with exit code $status" >&2; fi
exit $status
`

// A setup that fails in an allocation ends its lease, as in a job: another node may be better. The reason names its
// line, the node and the log.
func TestSetupFailsInAllocation(t *testing.T) {
	const log = "; the log of the lease in .slurm has all that it printed"
	for setup, as := range map[string]string{
		"nosuch one\ntrue":                "at: nosuch one (exit status 127) on the node n7: nosuch: command not found",
		"test -d /no/such || exit 7":      "at: exit 7 (exit status 7) on the node n7",
		"echo out of licences >&2; false": "at: false (exit status 1) on the node n7: out of licences",
		"echo srun: error: no; exit 0":    "at: exit 0 (exit status 0) on the node n7",
		"set -u; echo $NOPE":              "at: echo $NOPE (exit status 1) on the node n7: NOPE: unbound variable",
		"}":                               "(exit status 2) on the node n7: syntax error near unexpected token `}'",
	} {
		got, want := endsAs(t, runsStep, setup), "the step has ended: the setup failed "+as+log
		if got.Kind != sdk.LeaseLost || got.Why != want {
			t.Errorf("%q: %v, %q, want %q", setup, got.Kind, got.Why, want)
		}
	}
}

// Only srun's own refusal of the request is a refusal, not that of a node which cannot begin the step.
func TestStepsAreRefused(t *testing.T) {
	for says, kind := range map[string]sdk.LeaseEventKind{
		"srun: error: Unable to create step for job 7: Requested node configuration is not available": sdk.LeaseRefused,
		"srun: unrecognized option '--foo'":                                 sdk.LeaseRefused,
		"srun: error: qa4: task 0: Exited with exit code 1":                 sdk.LeaseLost,
		"srun: error: qa4: tasks 0-3: Killed":                               sdk.LeaseLost,
		"srun: error: Task launch for StepId=7.1 failed on node qa4: Error": sdk.LeaseLost,
		"srun: error: Node failure on qa4":                                  sdk.LeaseLost,
	} {
		if got := endsAs(t, "#!/bin/sh\necho "+quote(says)+" >&2; exit 1\n", ""); got.Kind != kind {
			t.Errorf("%s: %v, %s", says, got.Kind, got.Why)
		}
	}
}
