package local

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// KillLeftovers kills the processes of trials whose directories are below dir,
// an absolute path, and returns how many it found. It is for a host that has
// locked the experiment and knows that none of its trials runs: after a crash
// that took the host and its plugins together, before it resumes (B-025).
func KillLeftovers(dir string) int {
	found := map[int]bool{}
	pause := time.Millisecond
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
		pids := trialProcesses(dir)
		if len(pids) == 0 {
			break
		}
		for _, pid := range pids {
			found[pid] = true
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(pause) // a killed process needs a moment to be gone
		pause = min(2*pause, 100*time.Millisecond)
	}
	return len(found)
}

// trialProcesses are those whose environment has a trial's directory below dir.
func trialProcesses(dir string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err == nil && pid != os.Getpid() && isTrialOf(pid, dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func isTrialOf(pid int, dir string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil { // another user's, or gone
		return false
	}
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if trial, ok := strings.CutPrefix(string(v), "TUNEHOST_TRIAL_DIR="); ok {
			return strings.HasPrefix(trial, filepath.Clean(dir)+"/")
		}
	}
	return false
}
