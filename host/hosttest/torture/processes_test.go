package torture

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// process is a process that belongs to a host of an experiment.
type process struct {
	pid, parent int
	is          role
}

// role is the purpose of a process.
type role string

const (
	searcher  role = "searcher"
	scheduler role = "scheduler"
	trainable role = "trainable"
	trial     role = "trial" // a program of a command, as the host started it
	reaper    role = "reaper"
	other     role = "child" // of a trial
)

// processes returns the living processes of the experiment's hosts, without the hosts.
func (x *experiment) processes() (list []process) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if p, ok := x.look(pid); ok {
				list = append(list, p)
			}
		}
	}
	for i := range list {
		// Only a trial's own program is a child of its trainable.
		p := &list[i]
		if p.is == trial && !slices.ContainsFunc(list,
			func(q process) bool { return q.pid == p.parent && q.is == trainable }) {
			p.is = other
		}
	}
	return list
}

func (x *experiment) look(pid int) (p process, ok bool) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	if info, err := os.Stat(proc); err != nil || int(info.Sys().(*syscall.Stat_t).Uid) != hostUser() {
		return p, false
	}
	cmdline, err := os.ReadFile(filepath.Join(proc, "cmdline"))
	if err != nil {
		return p, false
	}
	args := strings.Split(strings.TrimSuffix(string(cmdline), "\x00"), "\x00")
	p = process{pid: pid, parent: parentOf(proc), is: other}
	if len(args) == 3 && args[1] == "plugin-reaper" && strings.HasPrefix(args[2], x.dir+"#") {
		p.is = reaper
		return p, true
	}
	environ, err := os.ReadFile(filepath.Join(proc, "environ"))
	if err != nil || !bytes.Contains(environ, []byte("TUNEHOST_HOST="+x.dir+"#")) {
		return p, false
	}
	switch {
	case bytes.Contains(environ, []byte("TUNEHOST_TRIAL_ID=")):
		p.is = trial
	case len(args) > 2 && args[1] == "plugin-serve":
		p.is = role(args[2])
	case len(args) > 1 && args[1] == "plugin-sandbox":
		p.is = searcher // the only module
	case strings.Contains(args[0], "ledger"):
		p.is = trainable
	}
	return p, true
}

// parentOf reads /proc/PID/stat, in which the name may contain any characters.
func parentOf(proc string) int {
	stat, _ := os.ReadFile(filepath.Join(proc, "stat"))
	if fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); len(fields) > 1 {
		parent, _ := strconv.Atoi(fields[1])
		return parent
	}
	return 0
}
