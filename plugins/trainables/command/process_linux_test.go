package command

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/internal/toolchain"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

// B-025: the kernel kills programs whose plugin process was killed.
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
		return !alive(t, run, "pid") || isZombie(pid) // adopted by this process
	})
}

// B-025: a program that runs the trainable in its own process has other children. They do not
// belong to trials; in a dedicated plugin process they would.
func TestChildrenOfOthers(t *testing.T) {
	toolchain.Programs(t, "setsid")
	if err := train(t, sh("true"), newRun(t)); err != nil { // from now on orphans are adopted
		t.Fatal(err)
	}
	out, err := exec.Command("sh", "-c", "cd /; env -i setsid sleep 1000 > /dev/null 2>&1 & echo $!").Output()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	eventually(t, "the child is this process's", func() bool { return slices.Contains(children.orphans(), pid) })
	none := childTable{known: map[int]bool{}}
	if n := none.kill(&leftovers{group: pid - 1, trialID: "none", dir: "/no/dir", killed: map[int]bool{}}); n > 0 ||
		isZombie(pid) {
		t.Errorf("%d children of others were killed", n)
	}
	t.Setenv(serve.CookieKey, serve.CookieValue)
	killLeftovers(pid-1, "none", "/no/dir")
	if syscall.Kill(pid, 0) == nil {
		t.Error("an orphan in a plugin's own process lives on")
	}
}
