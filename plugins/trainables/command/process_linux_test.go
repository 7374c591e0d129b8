package command

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// B-025: the kernel ends programs whose plugin process was killed.
func TestHostDies(t *testing.T) {
	run := newRun(t)
	host := exec.Command(os.Args[0])
	host.Env = append(os.Environ(), "DYING_HOST="+run.trial.Dir)
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the program runs", func() bool { return exists(run, "pid") })
	if !alive(t, run, "pid") {
		t.Error("the program does not run")
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(readFile(t, run.trial.Dir, "pid")))
	_ = host.Process.Kill()
	_ = host.Wait()
	eventually(t, "the program is gone", func() bool {
		return !alive(t, run, "pid") || isZombie(pid) // adopted by this very process
	})
}
