package torture

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fault is something that is done to an experiment while a host runs it.
type fault struct {
	name   string
	weight int
	// possible, if set, says whether it can be done to the experiment.
	possible func(*experiment) bool
	do       func(testing.TB, *host, *rand.Rand)
}

// faults are all of them.
var faults = []fault{
	{"kill host", 45, nil, killHost},
	{"kill group", 4, nil, killGroup},
	{"kill host and warden", 3, nil, killBoth},
	{"kill searcher", 5, nil, killRole(searcher)},
	{"kill scheduler", 5, nil, killRole(scheduler)},
	{"kill trainable", 8, nil, killRole(trainable)},
	{"kill trial", 25, func(x *experiment) bool { return len(x.scripts) > 0 }, killRole(trial)},
	{"kill child", 2, nil, killRole(other)},
	{"freeze host", 3, nil, freezeHost},
	{"freeze others", 4, nil, freezeOthers},
	{"interrupt", 3, nil, interrupt(1)},
	{"interrupt twice", 3, nil, interrupt(2)},
	{"second host", 2, nil, secondHost},
	{"full disk", 6, func(x *experiment) bool { return x.small }, fullDisk},
	{"no permission", 6, func(*experiment) bool { return privileged() }, noPermission},
	{"no record", 3, nil, noRecord},
}

func named(name string) fault {
	return faults[slices.IndexFunc(faults, func(f fault) bool { return f.name == name })]
}

// draw picks a fault that is possible.
func draw(x *experiment, rng *rand.Rand) fault {
	sum := 0
	for _, f := range faults {
		sum += f.odds(x)
	}
	n := rng.IntN(sum)
	for _, f := range faults {
		if n -= f.odds(x); n < 0 {
			return f
		}
	}
	panic("unreachable")
}

func (f fault) odds(x *experiment) int {
	if f.possible != nil && !f.possible(x) {
		return 0
	}
	return f.weight
}

// dies waits for a host that was killed.
func (h *host) dies(t testing.TB, what string) {
	t.Helper()
	h.killed = true
	if !h.within(patience) {
		t.Fatalf("process %d does not die", h.pid)
	}
	if h.status < 0 {
		count(what)
	}
}

func killHost(t testing.TB, h *host, _ *rand.Rand) {
	h.signal(syscall.SIGKILL, false)
	h.dies(t, "host killed")
}

func killGroup(t testing.TB, h *host, _ *rand.Rand) {
	h.signal(syscall.SIGKILL, true)
	h.dies(t, "host killed with its group")
}

// killBoth leaves it to the next host to end what this one has started (B-025).
func killBoth(t testing.TB, h *host, _ *rand.Rand) {
	for _, p := range h.x.processes() {
		if p.is == warden {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
	h.signal(syscall.SIGKILL, false)
	h.dies(t, "host killed with its warden")
	h.x.left = true
}

// pick waits a moment for a process of the role.
func (h *host) pick(t testing.TB, r role, rng *rand.Rand) (p process, ok bool) {
	h.await(t, 500*time.Millisecond, func() bool {
		var list []process
		for _, p := range h.x.processes() {
			if p.is == r {
				list = append(list, p)
			}
		}
		if ok = len(list) > 0; ok {
			p = list[rng.IntN(len(list))]
		}
		return ok
	})
	return p, ok
}

// killRole kills a process of the host's. Some plugins may be killed so often that
// the host gives them up.
func killRole(r role) func(testing.TB, *host, *rand.Rand) {
	return func(t testing.TB, h *host, rng *rand.Rand) {
		p, ok := h.pick(t, r, rng)
		if !ok {
			return
		}
		if err := syscall.Kill(p.pid, syscall.SIGKILL); err == nil {
			count(string(r) + " killed")
		}
		// A plugin that is killed while it starts is the user's to mend.
		h.excuse("is given up", "plugin-serve", "ended by signal 9", "exited before")
	}
}

func freezeHost(t testing.TB, h *host, rng *rand.Rand) {
	h.signal(syscall.SIGSTOP, false)
	h.within(upTo(rng, 400*time.Millisecond))
	h.signal(syscall.SIGCONT, false)
	count("host frozen")
}

func freezeOthers(t testing.TB, h *host, rng *rand.Rand) {
	list := h.x.processes()
	for _, p := range list {
		_ = syscall.Kill(p.pid, syscall.SIGSTOP)
	}
	h.within(upTo(rng, 400*time.Millisecond))
	for _, p := range list {
		_ = syscall.Kill(p.pid, syscall.SIGCONT)
	}
	count("plugins and trials frozen")
}

func upTo(rng *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(rng.Int64N(int64(d)))
}

// interrupt is Ctrl-C, which a terminal sends to the whole group.
func interrupt(times int) func(testing.TB, *host, *rand.Rand) {
	return func(t testing.TB, h *host, rng *rand.Rand) {
		h.told = true
		group := rng.IntN(2) == 0
		for range times {
			h.signal(syscall.SIGINT, group)
			h.within(upTo(rng, 100*time.Millisecond))
		}
		h.ends(t)
		count([]string{"", "host interrupted", "host interrupted twice"}[times])
	}
}

// secondHost is refused, and told who is there (B-085).
func secondHost(t testing.TB, h *host, _ *rand.Rand) {
	if !h.await(t, time.Second, h.holds) {
		return
	}
	status, said := h.x.does(t, h.x.runArgs()...)
	if h.within(0) {
		return // it was the only one by then
	}
	if status != 2 || !strings.Contains(said, "is in use by process") {
		t.Errorf("a second host ended with status %d:\n%s", status, said)
	}
	count("second host refused")
}

// holds says whether the host has the experiment's lock.
func (h *host) holds() bool {
	f, err := os.OpenFile(filepath.Join(h.x.dir, "LOCK"), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// fullDisk fills the disk and gives the room back; now and then the host is killed
// meanwhile. It waits and goes on by itself (B-087).
func fullDisk(t testing.TB, h *host, rng *rand.Rand) {
	ballast := h.x.fill(t, rng.IntN(3))
	count("disk filled")
	begun := strings.Contains(h.said(), "running")
	h.await(t, time.Second+upTo(rng, time.Second), func() bool { return strings.Contains(h.said(), "disk is full") })
	if rng.IntN(4) == 0 {
		killHost(t, h, rng)
	}
	must(t, os.Remove(ballast))
	if !begun { // it could not even begin
		h.excuse("no space left", "disk is full")
	}
}

// noPermission takes permissions away from a part of the experiment's directory,
// and gives them back.
func noPermission(t testing.TB, h *host, rng *rand.Rand) {
	path, ok := h.x.anyFolder(rng)
	if !ok {
		return
	}
	info, err := os.Stat(path)
	if err != nil {
		return // it has gone
	}
	h.x.tampered = true
	mode := []os.FileMode{0, 0o500}[rng.IntN(2)]
	if os.Chmod(path, mode) != nil {
		return
	}
	h.within(100*time.Millisecond + upTo(rng, 500*time.Millisecond))
	if err := os.Chmod(path, info.Mode()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	h.excuse("permission denied")
	count("permission taken")
}

// anyFolder is one of the experiment's, that of the record and the experiment's
// own more often than others.
func (x *experiment) anyFolder(rng *rand.Rand) (string, bool) {
	patterns := []string{"", "journal", "trials", "trials/*", "trials/*/checkpoints", "trials/*/checkpoints/*", "checkpoints/blobs", "snapshots"}
	list, _ := filepath.Glob(filepath.Join(x.dir, patterns[rng.IntN(len(patterns))]))
	if len(list) == 0 {
		return "", false
	}
	return list[rng.IntN(len(list))], true
}

// noRecord takes the record from under the host, which stops with an error and
// leaves nothing running; with the record put back it goes on.
func noRecord(t testing.TB, h *host, _ *rand.Rand) {
	from := filepath.Join(h.x.dir, "journal")
	if !h.await(t, time.Second, func() bool { _, err := os.Stat(h.x.dir + "/experiment.yaml"); return err == nil }) {
		return
	}
	if err := os.Rename(from, from+".away"); err != nil {
		return
	}
	h.excuse("was removed or moved away", "record is gone")
	h.ends(t)
	if h.status > 0 {
		for _, left := range h.x.processes() {
			if left.is != warden {
				t.Errorf("%s %d is still running after the record was gone", left.is, left.pid)
			}
		}
		count("record taken away")
	}
	must(t, os.Rename(from+".away", from))
}
